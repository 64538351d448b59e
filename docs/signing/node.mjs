import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';

// >>> the app's server
const sign = (secret, primaryKey) => createHmac('sha256', secret).update(primaryKey).digest('hex');
// <<<

for (const { secret, primaryKey } of JSON.parse(readFileSync(process.argv[2], 'utf8'))) {
  console.log(sign(secret, primaryKey));
}
