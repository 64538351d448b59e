package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log"
	"os"
)

// >>> the app's server
func sign(secret, primaryKey string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(primaryKey))
	return hex.EncodeToString(mac.Sum(nil))
}

// <<<

func main() {
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	var vectors []struct{ Secret, PrimaryKey string }
	if err := json.Unmarshal(text, &vectors); err != nil {
		log.Fatal(err)
	}
	for _, vector := range vectors {
		fmt.Println(sign(vector.Secret, vector.PrimaryKey))
	}
}
