import type { Directive, DirectiveBinding } from 'vue';
import type { Tracker } from '../api/types.js';
import { report } from '../page/report.js';

/** Value of `v-clew`: an event's name, or an event with its payload and its DOM event (`on`, default `click`). */
export type ClewBinding = string | { event: string; payload?: unknown; on?: string | undefined };

/**
 * Modifiers of `v-on` that `v-clew` does not have: options, mouse buttons and keys. A browser has no DOM event of these names.
 * Keys such as `copy` and `cancel` are missing, because DOM events have their names: https://vuejs.org/guide/essentials/event-handling
 */
const FOREIGN =
  /^(once|stop|prevent|self|capture|passive|native|exact|ctrl|alt|shift|meta|left|middle|right|up|down|enter|tab|delete|backspace|esc(ape)?|space|(arrow|page)-\w+|f?\d+|.)$/;

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
      const [first = '', second] = Object.keys(binding.modifiers);
      // The first modifier is the event's name, unless an argument is. An element may have a custom event of any name.
      const wrong = binding.arg || FOREIGN.test(first) ? first : second;
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
