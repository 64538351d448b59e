import sys

# >>> the app's server
import base64
import hashlib
import hmac
import json
import time


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def sign_identity(secret, key_id, audience, primary_key, expires_in, properties):
    now = int(time.time())
    header = {"alg": "HS256", "kid": key_id, "typ": "JWT"}
    claims = {"sub": primary_key, "aud": audience, "iat": now, "exp": now + expires_in, "properties": properties}
    signed = ".".join(encode(json.dumps(part).encode()) for part in (header, claims))
    signature = hmac.new(secret.encode(), signed.encode(), hashlib.sha256).digest()
    return f"{signed}.{encode(signature)}"
# <<<


secret, key_id, audience, primary_key, expires_in, properties = sys.argv[1:]
print(sign_identity(secret, key_id, audience, primary_key, int(expires_in), json.loads(properties)))
