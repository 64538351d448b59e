import type { Page } from '../../browser/page.ts';
import { payloadOf } from '../ledger.ts';
import type { Stage, VerbsOf } from '../stage.ts';
import { callOf, pageAt } from '../visitor.ts';

/** Calls of the theme `calls`. */
export type CallsAction = {
  /** `askId` calls `correlationValue()`, and tracks an event as soon as that has resolved. */
  readonly verb: 'trackNow' | 'page' | 'askId';
  readonly tab: number;
};

const isAlone = ({ browser }: Stage, page: Page): boolean =>
  [...browser.pages].every((other) => other === page || other.state !== 'running');

export const callsVerbs: VerbsOf<CallsAction> = {
  trackNow(stage, { tab }) {
    const page = pageAt(stage, tab);
    const { ledger, world, flushes, promised } = stage;
    stage.history.stir();
    const n = ledger.track(callOf(stage, page, { count: 1 }));
    const wasAlone = isAlone(stage, page);
    world.log(page.name, () => `trackNow walk ${n}`);
    page.guard(() => {
      const sending = page.clew()?.('trackNow', 'walk', payloadOf(n, 0)) as Promise<void> | undefined;
      // The stub returns nothing.
      if (!sending) return;
      flushes.set(sending, { page, at: world.scheduler.now() });
      sending.then(() => {
        flushes.delete(sending);
        promised.push({ kind: 'sent', n, at: world.scheduler.now(), isAlone: wasAlone && isAlone(stage, page) });
      });
    });
  },
  page(stage, { tab }) {
    const page = pageAt(stage, tab);
    const n = stage.ledger.track(callOf(stage, page, { count: 1, name: 'page_view' }));
    stage.world.log(page.name, () => `page ${n}`);
    page.guard(() => void page.clew()?.('page', payloadOf(n, 0)));
  },
  askId(stage, { tab }) {
    const page = pageAt(stage, tab);
    const { ledger, world, flushes, promised } = stage;
    world.log(page.name, () => 'correlationValue');
    const called = world.scheduler.now();
    page.guard(() => {
      const asking = page.clew()?.('correlationValue') as Promise<string> | undefined;
      if (!asking) return;
      flushes.set(asking, { page, at: called });
      asking.then((id) => {
        flushes.delete(asking);
        if (page.state !== 'running') return;
        const n = ledger.track(callOf(stage, page, { count: 1 }));
        world.log(page.name, () => `has the id ${id.slice(0, 4)}, and tracks walk ${n}`);
        promised.push({ kind: 'id', n, id, called, at: world.scheduler.now() });
        page.guard(() => void page.clew()?.('track', 'walk', payloadOf(n, 0)));
      });
    });
  },
};
