// @module-tag promise
import { expect, it } from 'vitest';
import { describeWithRedis as describe, useRedis } from '../redis.ts';
import { useUpstream } from '../upstream.ts';
import { createBroker, event, events, repeatsIn, sendUntilDone, until } from './broker.ts';

const redis = useRedis();
const upstream = useUpstream();
const openBroker = () => createBroker(redis(), upstream);
const namesOf = (batch: readonly { event: string }[]) => batch.map((one) => one.event);

describe('a poison event', () => {
  it('does not lose its neighbours when three batches have one each', async () => {
    const broker = openBroker();
    const batches = ['a', 'b', 'c', 'd'].map((prefix) => events(8, prefix));
    const isPoison = (name: string) => ['a0', 'b7', 'c3'].includes(name);
    broker.answerBy((names) => (names.some(isPoison) ? 400 : 201));
    for (const batch of batches) await broker.append(batch);
    await broker.work();
    await broker.done();
    const all = namesOf(batches.flat());
    expect([...broker.taken].sort()).toEqual(all.filter((name) => !isPoison(name)).sort());
    expect((await broker.rejected()).map(({ text }) => JSON.parse(text ?? '').event)).toEqual(['a0', 'b7', 'c3']);
  });

  it('does not make confirmed events return when the bisecting worker crashes', async () => {
    const broker = openBroker();
    let isDown = false;
    broker.answerBy((names) => {
      if (names.includes('20')) isDown = broker.taken.length > 0;
      return isDown ? 503 : names.includes('20') ? 400 : 201;
    });
    await broker.append(events(50));
    const first = await broker.work('one');
    await until(() => isDown);
    await first.stop();
    expect(broker.taken.length).toBeGreaterThan(0);
    broker.answerBy((names) => (names.includes('20') ? 400 : 201));
    await broker.work('two');
    await broker.done();
    expect(repeatsIn(broker.taken)).toEqual([]);
    expect(broker.taken).toHaveLength(49);
  });

  it('is ruled out after five refusals in a row: all events are kept', async () => {
    const broker = openBroker();
    let singles = 0;
    broker.answerBy((names) => {
      if (names.length === 1) singles++;
      return 400;
    });
    const batches = [events(8, 'a'), events(8, 'b')];
    for (const batch of batches) await broker.append(batch);
    const { errors } = await broker.work('one', { waits: { refused: 400 } });
    await until(() => singles === 5);
    const requests = upstream.received.length;
    broker.answerBy(() => 201);
    expect(await broker.rejected()).toEqual([]);
    await broker.done();
    expect(errors).toHaveLength(requests);
    expect([...broker.taken].sort()).toEqual(namesOf(batches.flat()));
    expect(await broker.rejected()).toEqual([]);
  });

  it.each([400, 500])('in a row of twelve that are answered %i holds nothing up for minutes', async (status) => {
    const broker = openBroker();
    broker.answerBy((names) => (names.some((name) => name.startsWith('bad')) ? status : 201));
    const poison = events(12, 'bad');
    for (const one of poison) await broker.append([one]);
    // The default waits, except the first wait after a 500.
    await broker.work('one', { waits: { first: 20, refused: 300_000 } });
    await until(() => upstream.received.length > 5);
    const goods = await sendUntilDone(broker, upstream);
    expect(broker.taken).toEqual(goods);
    expect((await broker.rejected()).map(({ text }) => JSON.parse(text ?? '').event).sort()).toEqual(
      namesOf(poison).sort(),
    );
  });

  it('is no upsert while the endpoint of upserts fails and the others work', async () => {
    const broker = openBroker();
    let isDown = true;
    broker.answerBy((_names, text) => (isDown && text.includes('primary_key') ? 500 : 201));
    const upserts = Array.from({ length: 5 }, (_, n) => `{"primary_key":"k${n}"}`);
    for (const body of upserts) await broker.forward({ path: '/api/customers/upsert', body });
    const { errors } = await broker.work('one', { waits: { first: 1, most: 1 } });
    for (let n = 0; n < 20; n++) {
      await broker.append([event(`good${n}`)]);
      await until(() => broker.taken.includes(`good${n}`));
    }
    await until(() => errors.length > 20);
    isDown = false;
    await broker.append([event('last')]);
    await broker.done();
    expect(await broker.rejected()).toEqual([]);
  });

  it('blocks no event that was refused in an outage and is good', async () => {
    const broker = openBroker();
    let isDown = true;
    broker.answerBy((names) => (isDown ? 500 : names.includes('poison') ? 400 : 201));
    await broker.append([event('poison')]);
    const good = events(4, 'good');
    for (const one of good) await broker.append([one]);
    const { errors } = await broker.work('one', { waits: { first: 1, most: 20 } });
    await until(() => errors.length > 8);
    isDown = false;
    await broker.done();
    expect([...broker.taken].sort()).toEqual(namesOf(good));
  });

  it('that is alone stays until another event gets through', async () => {
    const broker = openBroker();
    broker.answerBy(([name]) => (name === 'bad' ? 400 : 201));
    await broker.append([event('bad')]);
    await broker.work('one', { waits: { first: 1, most: 1 } });
    await until(() => upstream.received.length > 3);
    expect(await broker.rejected()).toEqual([]);
    await broker.append([event('good')]);
    await broker.done();
    expect(await broker.rejected()).toMatchObject([{ reason: '400 poison' }]);
  });

  it('is found behind more poison events than a worker holds at a time', async () => {
    const broker = openBroker();
    const poison = events(12, 'bad');
    broker.answerBy(([name]) => (name?.startsWith('bad') ? 400 : 201));
    for (const one of [...poison, event('good')]) await broker.append([one]);
    await broker.work('one', { waits: { refused: 1 } });
    await broker.done();
    expect(broker.taken).toEqual(['good']);
    expect((await broker.rejected()).map(({ text }) => text)).toEqual(poison.map((one) => JSON.stringify(one)));
  });
});
