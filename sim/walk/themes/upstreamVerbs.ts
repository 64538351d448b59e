import { type Conditions, FAIR } from '../../server/network.ts';
import type { VerbsOf } from '../stage.ts';

/** Actions of the theme `upstream`. */
export type UpstreamAction = {
  /** How the network between relay and service treats requests from now on. */
  readonly verb: 'upstream';
  readonly kind: Upstream;
};

export type Upstream = 'fair' | 'slow' | 'lostBefore' | 'lostAfter' | 'lossy' | 'foreign' | 'unavailable' | 'hangs';

const answer = (status: number, type: string) => ({
  ...FAIR,
  foreign: { status, headers: { 'Content-Type': type }, text: '<!doctype html>' },
});

const CONDITIONS: Readonly<Record<Upstream, Conditions>> = {
  fair: FAIR,
  // The relay waits for 10 s.
  slow: { ...FAIR, latency: [500, 7000] },
  lostBefore: { ...FAIR, lostBefore: 0.5 },
  lostAfter: { ...FAIR, lostAfter: 0.5 },
  lossy: { ...FAIR, latency: [5, 4000], lostBefore: 0.2, lostAfter: 0.2 },
  // A proxy in front of the service answers in place of it.
  foreign: answer(200, 'text/html'),
  unavailable: answer(502, 'text/html'),
  hangs: { ...FAIR, hangs: true },
};

export const upstreamVerbs: VerbsOf<UpstreamAction> = {
  upstream({ inner, world }, { kind }) {
    world.log('upstream', () => kind);
    inner.conditions = CONDITIONS[kind];
  },
};
