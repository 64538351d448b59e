// >>> the app's server
import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.GeneralSecurityException;
import java.time.Instant;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

class IdentityToken {
    static String encode(byte[] data) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(data);
    }

    static String quote(String text) {
        var json = new StringBuilder("\"");
        for (char c : text.toCharArray())
            json.append(c < ' ' || c == '"' || c == '\\' ? String.format("\\u%04x", (int) c) : String.valueOf(c));
        return json.append('"').toString();
    }

    /** @param properties a JSON object, as your JSON library writes it */
    static String sign(String secret, String keyId, String audience, String primaryKey, long expiresIn, String properties)
            throws GeneralSecurityException {
        var now = Instant.now().getEpochSecond();
        var header = "{\"alg\":\"HS256\",\"typ\":\"JWT\",\"kid\":" + quote(keyId) + "}";
        var claims = "{\"sub\":" + quote(primaryKey) + ",\"aud\":" + quote(audience) + ",\"iat\":" + now
                + ",\"exp\":" + (now + expiresIn) + ",\"properties\":" + properties + "}";
        var signed = encode(header.getBytes(UTF_8)) + "." + encode(claims.getBytes(UTF_8));
        var mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(secret.getBytes(UTF_8), "HmacSHA256"));
        return signed + "." + encode(mac.doFinal(signed.getBytes(UTF_8)));
    }
}
// <<<

class Token {
    public static void main(String[] args) throws GeneralSecurityException {
        System.out.println(IdentityToken.sign(args[0], args[1], args[2], args[3], Long.parseLong(args[4]), args[5]));
    }
}
