// >>> the app's server
using System;
using System.Linq;
using System.Security.Cryptography;
using System.Text;

static class IdentityToken
{
    static string Encode(byte[] data)
    {
        return Convert.ToBase64String(data).TrimEnd('=').Replace('+', '-').Replace('/', '_');
    }

    static string Quote(string text)
    {
        var escaped = text.Select(c => c < ' ' || c == '"' || c == '\\' ? "\\u" + ((int)c).ToString("x4") : c.ToString());
        return "\"" + string.Concat(escaped) + "\"";
    }

    /// <param name="properties">a JSON object, as your JSON library writes it</param>
    public static string Sign(
        string secret, string keyId, string audience, string primaryKey, long expiresIn, string properties)
    {
        var now = DateTimeOffset.UtcNow.ToUnixTimeSeconds();
        var header = "{\"alg\":\"HS256\",\"typ\":\"JWT\",\"kid\":" + Quote(keyId) + "}";
        var claims = "{\"sub\":" + Quote(primaryKey) + ",\"aud\":" + Quote(audience) + ",\"iat\":" + now
            + ",\"exp\":" + (now + expiresIn) + ",\"properties\":" + properties + "}";
        var signed = Encode(Encoding.UTF8.GetBytes(header)) + "." + Encode(Encoding.UTF8.GetBytes(claims));
        using (var hmac = new HMACSHA256(Encoding.UTF8.GetBytes(secret)))
            return signed + "." + Encode(hmac.ComputeHash(Encoding.UTF8.GetBytes(signed)));
    }
}
// <<<

static class Program
{
    static void Main(string[] args)
    {
        Console.WriteLine(IdentityToken.Sign(args[0], args[1], args[2], args[3], long.Parse(args[4]), args[5]));
    }
}
