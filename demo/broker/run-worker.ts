// Delivers the requests that relays have appended to the stream, to the service at BASE_URL.
import { hostname } from 'node:os';
import { toService } from '../../src/relay/forward.ts';
import { connect } from './redis.ts';
import { createWorker } from './worker.ts';

const { REDIS_URL = 'redis://127.0.0.1:6379', STREAM = 'clew', GROUP = 'clew' } = process.env;
const { BASE_URL = '', EVENTS_URL = BASE_URL, API_KEY = '', TAKE_OVER_AFTER = '60000' } = process.env;
/** No two running workers may have the same name. A worker that restarts with its old name has its entries at once. */
const { CONSUMER = `${hostname()} ${process.pid}` } = process.env;
if (!BASE_URL || !API_KEY) {
  console.error('clew worker: expected the environment variables BASE_URL (the service) and API_KEY');
  process.exit(1);
}

const [{ client, command }, waiting] = await Promise.all([connect(REDIS_URL), connect(REDIS_URL)]);
const worker = createWorker({
  command,
  blockingCommand: waiting.command,
  stream: STREAM,
  group: GROUP,
  consumer: CONSUMER,
  takeOverAfter: Number(TAKE_OVER_AFTER),
  forward: toService({ baseUrl: BASE_URL, eventsUrl: EVENTS_URL, apiKey: API_KEY, timeout: 10_000, fetch }),
  onError: (message) => console.error(`clew worker: ${message}`),
});
console.log(`clew worker: ${CONSUMER} delivers to ${BASE_URL}`);

const stop = async () => {
  await worker.stop();
  await Promise.all([client.close(), waiting.client.close()]);
};
process.once('SIGINT', stop).once('SIGTERM', stop);
