import fc from 'fast-check';
import { it } from 'vitest';
import { checkBatch, checkUpsert } from '../../demo/collector/validation.ts';
import { eventFault } from '../../src/service/eventFault.ts';
import { anyJson, hold, oddText } from './arbitraries.ts';
import { openInMemory, requestOf } from './requests.ts';
import { event, UPSERT } from './stage.ts';

const two = (most: number) => fc.nat(most).map((n) => `${n}`.padStart(2, '0'));
const year = fc.oneof(
  fc.constantFrom('0000', '0001', '1969', '2024', '9999', '+010000', '-000001', '10000'),
  fc.nat(9999).map((n) => `${n}`.padStart(4, '0')),
);
const zone = fc.constantFrom('Z', '+00:00', '-00:01', '+23:59', '-23:59', '+24:00', '', 'z');
const fraction = fc.constantFrom('', '.0', '.123', '.123456789', ',5', '.');
const timestamp = fc
  .tuple(year, two(13), two(32), two(24), two(60), two(60), fraction, zone)
  .map(([y, month, day, hour, minute, second, part, offset]) => {
    return `${y}-${month}-${day}T${hour}:${minute}:${second}${part}${offset}`;
  });
const key = fc.oneof(
  oddText,
  fc.constantFrom(499, 500, 501).map((length) => 'x'.repeat(length)),
  fc.constantFrom(166, 250, 251).map((count) => '👩'.repeat(count)),
);

it('the collector takes every event that the relay forwards', async () => {
  const property = fc.asyncProperty(
    fc.record({
      timestamp: fc.oneof(timestamp, fc.constant(undefined)),
      event: fc.oneof(oddText, fc.constant('$identify')),
      payload: fc.oneof(
        anyJson.map((text) => JSON.parse(text) as unknown),
        key.map((distinct_id) => ({ distinct_id })),
      ),
    }),
    async (fields) => {
      const made = event('a', fields);
      if (eventFault(made) !== undefined) return;
      const checked = checkBatch({ batch: [made] });
      if ('error' in checked) throw new Error(checked.error);
    },
  );
  await hold(property, 5000);
});

it('the collector takes every upsert that the relay forwards', async () => {
  const property = fc.asyncProperty(key, anyJson, async (primary_key, properties) => {
    const { relay, received } = openInMemory({ allowUnsignedUpsert: true });
    await relay(
      requestOf(`{"primary_key":${JSON.stringify(primary_key)},"properties":${properties}}`, { path: UPSERT }),
    );
    for (const { body } of received) {
      const checked = checkUpsert(JSON.parse(body));
      if ('error' in checked) throw new Error(checked.error);
    }
  });
  await hold(property, 2000);
});
