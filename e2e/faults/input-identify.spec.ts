import { expect, fault } from './support/fault.ts';

fault(
  53,
  'identify twice, with another person, and track in the same tick',
  async (stage) => {
    const tab = await stage.visit();
    const { run, from } = stage.next(6);
    await tab.evaluate(
      ({ run, from }) => {
        let n = from;
        const track = () => window.clew('track', 'ledger', { run, n: n++ });
        track();
        window.clew('identify', 'ann@example.com');
        track();
        window.clew('identify', 'ann@example.com');
        track();
        window.clew('identify', 'bob@example.com');
        track();
        for (const odd of [5, '', {}, null, undefined, ['ann@example.com'], Symbol('s')]) window.clew('identify', odd);
        for (const signature of [5, {}, () => {}, Symbol('s')])
          window.clew('identify', 'eve@example.com', undefined, { signature });
        track();
        window.clew('identify', 'ann@example.com');
        track();
      },
      { run, from },
    );
    await expect.poll(async () => (await stage.arrived()).length).toBe(6);
    const events = await stage.demo.events();
    const visitorIds = [...new Set(events.map(({ correlationValue }) => correlationValue))];
    const story = events.map(({ event, payload, correlationValue }) => {
      const { n, distinct_id } = payload as { n?: number; distinct_id?: string };
      return `${visitorIds.indexOf(correlationValue)} ${event} ${distinct_id ?? (n ?? 0) - from}`;
    });
    expect(story).toEqual([
      '0 ledger 0',
      '0 $identify ann@example.com',
      '0 ledger 1',
      '0 ledger 2',
      // Two people on one browser never share a visitor id. The first one also gets a new id when she comes back.
      '1 $identify bob@example.com',
      '1 ledger 3',
      '1 ledger 4',
      '2 $identify ann@example.com',
      '2 ledger 5',
    ]);
    expect(await tab.evaluate(() => window.told.errors)).toHaveLength(11);
  },
  { isPromise: true },
);
