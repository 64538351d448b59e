import { createNetwork, type Network, type NetworkAnswer, type NetworkRequest } from '../server/network.ts';
import { SERVICE_URL } from '../server/relayProcess.ts';
import { createService, type Service } from '../server/service.ts';
import type { Program } from '../world/program.ts';
import type { World } from '../world/world.ts';
import { createLedger, type Ledger } from './ledger.ts';
import { createRedis } from './redis.ts';

/** The parts of a simulation that its two relays share. */
export interface Stage {
  readonly world: World;
  /** `dist/relay.js`. */
  readonly program: Program;
  readonly ledger: Ledger;
  readonly redis: ReturnType<typeof createRedis>;
  readonly service: Service;
  /** From the relays to the service. */
  readonly back: Network;
}

/** The service. The ledger notes each event that it stores and each answer that a relay reads. */
const watch = (service: Service, ledger: Ledger) => {
  let requests = 0;
  return (request: NetworkRequest, answer: (answer: NetworkAnswer) => void) => {
    const before = service.stored.length;
    const mine = ++requests;
    service.serve(request, (made) => {
      for (const { uuid } of service.stored.slice(before))
        ledger.note({ what: 'stored', uuid, from: request.from, request: mine });
      const accepted = () => {
        made.accepted?.();
        ledger.note({ what: 'read', request: mine });
      };
      answer({ ...made, accepted });
    });
  };
};

export const createStage = (world: World, program: Program): Stage => {
  const ledger = createLedger();
  const service = createService(world);
  const back = createNetwork(world, { [SERVICE_URL]: watch(service, ledger) });
  return { world, program, ledger, service, back, redis: createRedis(world, ledger) };
};
