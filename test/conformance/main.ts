import { parseArgs } from 'node:util';
import { booksChecks } from './booksChecks.ts';
import { createBench, runChecks, SETTINGS } from './check.ts';
import { requestChecks } from './requestChecks.ts';
import { startService } from './service.ts';
import { stateChecks } from './stateChecks.ts';

/** `npm run relay:conformance`: checks any relay against docs/relay.md. Exits with 1 if the relay breaks a rule. */

const { values } = parseArgs({
  options: { url: { type: 'string' }, 'service-port': { type: 'string', default: '9090' } },
});
const port = Number(values['service-port']);

if (!values.url || !URL.canParse(values.url)) {
  console.error(`npm run relay:conformance -- --url ADDRESS [--service-port ${port}]
  --url           the relay, as a tracker has it in baseUrl
  --service-port  where this command stands in for the service

Start the relay with these settings (variables of clew-relay):
  BASE_URL=http://127.0.0.1:${port} API_KEY='${SETTINGS.apiKey}' IDENTITY_SECRET='${SETTINGS.identitySecret}' ALLOWED_ORIGINS='${SETTINGS.origin}'`);
  process.exit(1);
}

const service = await startService(port);
const results = await runChecks(
  [...requestChecks, ...stateChecks, ...booksChecks],
  createBench(values.url, service),
  ({ name, fault, isSkipped }) =>
    console.log(fault !== undefined ? `FAILED  ${name}: ${fault}` : `${isSkipped ? 'skipped' : 'ok     '} ${name}`),
);
await service.close();
const failed = results.filter(({ fault }) => fault !== undefined).length;
const skipped = results.filter(({ isSkipped }) => isSkipped).length;
console.log(`${results.length} checks, ${failed} failed, ${skipped} skipped, because the relay lacks an optional part`);
process.exit(failed ? 1 : 0);
