import json
import sys

# >>> the app's server
import hashlib
import hmac


def sign(secret: str, primary_key: str) -> str:
    return hmac.new(secret.encode(), primary_key.encode(), hashlib.sha256).hexdigest()
# <<<


with open(sys.argv[1], encoding="utf-8") as vectors:
    for vector in json.load(vectors):
        print(sign(vector["secret"], vector["primaryKey"]))
