import type { Answer } from '../courier/transport.js';
import type { Page } from './page.js';

/**
 * A fault of a rehearsal:
 *
 * - `none`: everything works.
 * - `answer lost`: the relay and the service take the first request, and the page gets no answer.
 * - `unavailable`: the service answers 503 twice.
 * - `offline`: no request leaves the page. The next page is online.
 * - `departure`: the page leaves right after the calls, hands its events over, and reads no answer.
 * - `crash`: the page ends after it has stored the events, and before it sends them.
 * - `crash in flight`: the page ends after the service has taken the events, and before it reads the answer.
 * - `duplicate request`: every request reaches the relay twice, at the same time.
 * - `service answer lost`: the service takes the first request, and the relay gets no answer. The relay cannot know that, and sends
 * again. A service that does not drop duplicates by `uuid` then starts the journey twice.
 */
export type RehearsedFault =
  | 'none'
  | 'answer lost'
  | 'unavailable'
  | 'offline'
  | 'departure'
  | 'crash'
  | 'crash in flight'
  | 'duplicate request'
  | 'service answer lost';

/** How a request reaches the relay. `deliver` sends it, and resolves to the relay's answer. */
export type Network = (deliver: () => Promise<Answer>) => Promise<Answer>;

/** Everything that a fault can do. */
export interface World {
  /** Opens a page for the visitor. */
  open(): Page;
  /** Makes the calls. */
  call(page: Page): Promise<void>;
  setNetwork(network: Network): void;
  /** Lets the next answers of the service fail. */
  failService(...troubles: readonly (number | 'lost')[]): void;
  /** Sends until nothing is queued. Waits of the tracker end at once. */
  settle(page: Page): Promise<void>;
  /** Resolves once no request is in flight. */
  arrived(): Promise<void>;
}

const direct: Network = (deliver) => deliver();

const plainly = async (world: World): Promise<void> => {
  const page = world.open();
  await world.call(page);
  await world.settle(page);
};

/** The page ends, and the visitor's next page sends the rest. */
const nextPage = async (world: World): Promise<void> => {
  world.setNetwork(direct);
  await world.arrived();
  await world.settle(world.open());
};

/** The page crashes at its first request, which `network` may still deliver. */
const crashAtRequest = async (world: World, network: Network): Promise<void> => {
  const page = world.open();
  let end = () => {};
  const isOver = new Promise<void>((resolve) => {
    end = resolve;
  });
  const isSent = new Promise<'sent'>((resolve) => {
    world.setNetwork(async (deliver) => {
      await network(deliver).catch(() => {});
      resolve('sent');
      // Without an answer, the tracker's timeout would keep the process alive.
      await isOver;
      throw new TypeError('the page has crashed');
    });
  });
  try {
    const isCalled = world.call(page);
    // If the calls are not awaited any more, their fault is not the rehearsal's.
    isCalled.catch(() => {});
    if ((await Promise.race([isSent, isCalled])) === 'sent')
      throw new Error(
        'rehearse: the page has sent while the calls still ran. They must not wait for requests, as `await flush()` does',
      );
    // Calls that leave nothing to send end without a request.
    await Promise.race([isSent, page.tracker.flush()]);
    page.crash();
  } finally {
    end();
  }
  await nextPage(world);
};

/** Plays each fault, and resolves once the visitor has nothing more to send. */
export const FAULTS: Readonly<Record<RehearsedFault, (world: World) => Promise<void>>> = {
  none: plainly,
  async 'answer lost'(world) {
    world.setNetwork(async (deliver) => {
      world.setNetwork(direct);
      await deliver();
      throw new TypeError('the connection was reset');
    });
    await plainly(world);
  },
  async unavailable(world) {
    world.failService(503, 503);
    await plainly(world);
  },
  async offline(world) {
    world.setNetwork(async () => {
      throw new TypeError('offline');
    });
    const page = world.open();
    await world.call(page);
    // An offline page hands nothing over.
    page.tracker.stop();
    await nextPage(world);
  },
  async departure(world) {
    const page = world.open();
    await world.call(page);
    page.leave();
    await nextPage(world);
  },
  crash: (world) => crashAtRequest(world, () => Promise.reject(new TypeError('not sent'))),
  'crash in flight': (world) => crashAtRequest(world, direct),
  async 'duplicate request'(world) {
    world.setNetwork(async (deliver) => {
      const [answer] = await Promise.all([deliver(), deliver()]);
      return answer;
    });
    await plainly(world);
  },
  async 'service answer lost'(world) {
    world.failService('lost');
    await plainly(world);
  },
};
