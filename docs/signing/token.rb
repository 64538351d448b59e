# >>> the app's server
require "json"
require "openssl"

def encode(data)
  [data].pack("m0").tr("+/", "-_").delete("=")
end

def sign_identity(secret, key_id, audience, primary_key, expires_in, properties)
  now = Time.now.to_i
  header = { alg: "HS256", kid: key_id, typ: "JWT" }
  claims = { sub: primary_key, aud: audience, iat: now, exp: now + expires_in, properties: properties }
  signed = "#{encode(header.to_json)}.#{encode(claims.to_json)}"
  "#{signed}.#{encode(OpenSSL::HMAC.digest("SHA256", secret, signed))}"
end
# <<<

secret, key_id, audience, primary_key, expires_in, properties = ARGV
puts sign_identity(secret, key_id, audience, primary_key, expires_in.to_i, JSON.parse(properties))
