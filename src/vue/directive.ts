import type { Directive, DirectiveBinding } from 'vue';
import type { Tracker } from '../api/types.js';
import { report } from '../page/report.js';

/** Value of `v-clew`: an event's name, or an event with its payload and its DOM event (`on`, default `click`). */
export type ClewBinding = string | { event: string; payload?: unknown; on?: string | undefined };

/** Modifiers of `v-on` that `v-clew` does not have. None is the name of a DOM event. */
const FOREIGN = /^(once|stop|prevent|self|capture|passive|native)$/;

/** `v-clew`, `v-clew:submit` or `v-clew.submit`: one listener for each use, as long as the element is there. */
export const createDirective = (tracker: Tracker): Directive<HTMLElement, ClewBinding> => {
  const listening = new WeakMap<object, AbortController>();
  const listen = (element: HTMLElement, binding: DirectiveBinding<ClewBinding>): void => {
    const { arg, modifiers, value } = binding;
    const { event, payload, on } = typeof value === 'string' ? { event: value } : { ...value };
    const type = arg ?? Object.keys(modifiers)[0] ?? on ?? 'click';
    const receive = (fired: Event) => {
      // Another element's `focus` or `mouseenter` is only passing through.
      if (fired.bubbles || fired.target === element) tracker.track(event as string, payload);
    };
    // In the capture phase, because a handler of the component may remove the element before the event bubbles up to it.
    const controller = new AbortController();
    element.addEventListener(type, receive, { capture: true, signal: controller.signal });
    listening.set(binding, controller);
  };
  const unlisten = (binding: object = {}) => listening.get(binding)?.abort();
  return {
    mounted(element, binding) {
      const [type = '', extra] = [binding.arg ?? [], ...Object.keys(binding.modifiers)].flat();
      const wrong = FOREIGN.test(type) ? type : extra;
      if (wrong) report(tracker, `v-clew: expected the name of one DOM event, found the modifier ${wrong}`);
      listen(element, binding);
    },
    updated(element, binding, { dirs }, before) {
      unlisten(before.dirs?.[dirs?.indexOf(binding) ?? 0]);
      listen(element, binding);
    },
    beforeUnmount: (_element, binding) => unlisten(binding),
  };
};
