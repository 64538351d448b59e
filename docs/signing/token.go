package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strconv"
	"time"
)

// >>> the app's server
func signIdentity(secret, keyID, audience, primaryKey string, expiresIn int64, properties map[string]any) (string, error) {
	now := time.Now().Unix()
	header, err := json.Marshal(map[string]any{"alg": "HS256", "kid": keyID, "typ": "JWT"})
	if err != nil {
		return "", err
	}
	claims, err := json.Marshal(map[string]any{
		"sub": primaryKey, "aud": audience, "iat": now, "exp": now + expiresIn, "properties": properties,
	})
	if err != nil {
		return "", err
	}
	encode := base64.RawURLEncoding.EncodeToString
	signed := encode(header) + "." + encode(claims)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(signed))
	return signed + "." + encode(mac.Sum(nil)), nil
}

// <<<

func main() {
	expiresIn, err := strconv.ParseInt(os.Args[5], 10, 64)
	if err != nil {
		log.Fatal(err)
	}
	var properties map[string]any
	if err := json.Unmarshal([]byte(os.Args[6]), &properties); err != nil {
		log.Fatal(err)
	}
	token, err := signIdentity(os.Args[1], os.Args[2], os.Args[3], os.Args[4], expiresIn, properties)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(token)
}
