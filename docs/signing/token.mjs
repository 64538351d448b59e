// >>> the app's server
import { createHmac } from 'node:crypto';

const encode = (data) => Buffer.from(data).toString('base64url');

const signIdentity = (secret, keyId, audience, primaryKey, expiresIn, properties) => {
  const iat = Math.floor(Date.now() / 1000);
  const header = { alg: 'HS256', kid: keyId, typ: 'JWT' };
  const claims = { sub: primaryKey, aud: audience, iat, exp: iat + expiresIn, properties };
  const signed = `${encode(JSON.stringify(header))}.${encode(JSON.stringify(claims))}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
};
// <<<

const [secret, keyId, audience, primaryKey, expiresIn, properties] = process.argv.slice(2);
console.log(signIdentity(secret, keyId, audience, primaryKey, Number(expiresIn), JSON.parse(properties)));
