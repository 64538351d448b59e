require "json"

# >>> the app's server
require "openssl"

def sign(secret, primary_key)
  OpenSSL::HMAC.hexdigest("SHA256", secret, primary_key)
end
# <<<

JSON.parse(File.read(ARGV[0], encoding: "UTF-8")).each do |vector|
  puts sign(vector["secret"], vector["primaryKey"])
end
