import type { Plugin } from '../api/types.js';
import { marksOf, payloadOf } from '../page/clicks.js';
import { type Actor, actorOf, isPresent } from './actor.js';
import { checkMs } from './checkMs.js';
import { checkNames } from './checkNames.js';
import { createDrafts } from './drafts.js';
import { ABANDONED, type Due, type Filling, type FormFact, fill, STARTED } from './form.js';

/** Options of `forms`. */
export interface FormOptions {
  /**
   * How long (ms) a tab may be hidden before a form in it counts as abandoned.
   *
   * @default 1800000 (30 minutes)
   */
  hiddenFor?: number | undefined;
}

const KEY = 'forms';
/**
 * How long (ms) after a submit the app may keep old marks of errors. React's `useActionState`, for example, keeps them until the
 * server answers.
 */
const CHECKED = 2000;

/** The form of an event, if it has a mark. Not all events of a form in a shadow root reach the page. */
const markedForm = (target: EventTarget | null): HTMLFormElement | undefined => {
  if (!(target instanceof Element)) return undefined;
  // A control's `form` may be anywhere in the page. A click may be on the text or the icon of a button.
  const controlOf = () => (target.closest('button') ?? target) as HTMLInputElement;
  const form = target instanceof HTMLFormElement ? target : (controlOf().form ?? target.closest('form'));
  return form instanceof HTMLFormElement && marksOf(form)?.clewForm ? form : undefined;
};

/** The name of a field, and never its value. */
const nameOf = (field: Element): string => field.getAttribute('name') || field.id || field.localName;

/** Notes what happens to a form. */
type Note = (form: HTMLFormElement, fact: FormFact) => void;

/**
 * Gathers the fields with errors of a task, since the browser reports one after the other.
 *
 * @returns `add` a field, and `flush` what was gathered
 */
const createErrors = (note: Note) => {
  const fields = new Map<HTMLFormElement, string[]>();
  const flush = () => {
    const found = [...fields];
    fields.clear();
    for (const [form, names] of found) note(form, { kind: 'errors', fields: [...new Set(names)] });
  };
  const add = (field: Element) => {
    const form = markedForm(field);
    if (!form) return;
    if (!fields.size) setTimeout(flush);
    fields.set(form, [...(fields.get(form) ?? []), nameOf(field)]);
  };
  return [add, flush] as const;
};

/** Whether the app has put this form in the place of another one. */
const isInPlaceOf = (other: HTMLFormElement, form: HTMLFormElement): boolean =>
  !other.isConnected && marksOf(other)?.clewForm === marksOf(form)?.clewForm;

/**
 * Finds the errors of a submit that change no mark, because the field was wrong before, too.
 *
 * @returns `wait` after a submit, and `resume` as the visitor changes a form again
 */
const createChecks = (addError: (field: Element) => void) => {
  let last: { readonly form: HTMLFormElement; readonly event: Event } | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const isLast = (form: HTMLFormElement) => !!last && (form === last.form || isInPlaceOf(last.form, form));
  const isInLast = (field: Element) => {
    const form = markedForm(field);
    return !!form && isLast(form);
  };
  const check = () => {
    // A submit that no script cancels opens another page. Until that page arrives, this one keeps its marks.
    const fields = last?.event.defaultPrevented ? document.querySelectorAll('[aria-invalid=true]') : [];
    const wrong = [...fields].filter(isInLast);
    last = undefined;
    for (const field of wrong) addError(field);
  };
  const wait = (form: HTMLFormElement, event: Event) => {
    last = { form, event };
    clearTimeout(timer);
    timer = setTimeout(check, CHECKED);
  };
  const resume = (form: HTMLFormElement) => {
    if (isLast(form)) check();
  };
  return [wait, resume] as const;
};

/** Options of listeners: before the page can stop an event, and until it is aborted. */
type Listening = AbortController & { capture: true };

/** Listens to forms. Returns a function that notes the errors that wait. */
const watchForms = (note: Note, listening: Listening): (() => void) => {
  const [addError, flush] = createErrors(note);
  const [wait, resume] = createChecks(addError);
  const listen = (type: string, listener: (target: Element, form: HTMLFormElement, event: Event) => void) =>
    addEventListener(
      type,
      (event) => {
        const form = markedForm(event.target);
        if (form) listener(event.target as Element, form, event);
      },
      listening,
    );
  /** The form that the visitor is about to submit. Pages also check forms as they load, and while the visitor types. */
  let tried: HTMLFormElement | undefined;
  listen('input', (target, form) => {
    // The app may remove the marks of a field as the visitor changes it.
    resume(form);
    flush();
    note(form, { kind: 'input', field: nameOf(target) });
  });
  // The enter key clicks the form's first button, too.
  listen('click', (target, form) => {
    const button = target.closest<HTMLButtonElement>('button, input');
    if (!/^(submit|image)$/.test(button?.type ?? '')) return;
    note(form, { kind: 'attempt' });
    tried = form;
    setTimeout(() => {
      tried = undefined;
    });
  });
  listen('invalid', (target, form) => {
    if (form !== tried) return;
    note(form, { kind: 'refused' });
    addError(target);
  });
  listen('submit', (_target, form, event) => {
    note(form, { kind: 'submit' });
    wait(form, event);
  });
  // Forms that the app checks itself.
  const observer = new MutationObserver((records) => {
    for (const { target } of records)
      if ((target as Element).getAttribute('aria-invalid') === 'true') addError(target as Element);
  });
  observer.observe(document, { subtree: true, attributeFilter: ['aria-invalid'] });
  listening.signal.addEventListener('abort', () => observer.disconnect());
  return flush;
};

/**
 * Creates a plugin that tracks forms with a mark, such as `<form data-clew-form="signup" data-clew-plan="pro">`: `form_started`,
 * `form_error`, `form_submitted` and `form_abandoned`, with `{ form: 'signup', plan: 'pro' }`. The events state names of fields, and
 * never values. A form counts as abandoned if the visitor leaves it by another view, by leaving the page, or by a tab that stays
 * hidden.
 *
 * @throws TypeError if `hiddenFor` is no number of ms, and for an unknown option
 * @example createTracker({ baseUrl: '/clew', plugins: [forms()] })
 */
export const forms = (options: FormOptions = {}): Plugin => {
  checkNames(options, { hiddenFor: 1 });
  const { hiddenFor = 1_800_000 } = options;
  checkMs('hiddenFor', hiddenFor, 0);
  return (tracker, tools) => {
    const { track, on } = tracker;
    const listening: Listening = Object.assign(new AbortController(), { capture: true as const });
    const drafts = createDrafts(tools, KEY, ABANDONED, hiddenFor);
    const fillings = new Map<HTMLFormElement, Filling>();
    /** The visitors who have begun them. */
    const fillers = new WeakMap<HTMLFormElement, Actor>();
    const isByVisitor = (form: HTMLFormElement) => isPresent(fillers.get(form) ?? {}, tools);
    /** When the visitor has hidden the tab. */
    let hiddenAt: number | undefined;

    const withMarks = (form: HTMLFormElement, due: readonly Due[]): Due[] => {
      const marks = payloadOf(marksOf(form) as DOMStringMap);
      return due.map(([event, properties]) => [event, { ...marks, ...properties }]);
    };
    /** The app may have replaced the element of a form that the visitor has begun. */
    const takeOver = (form: HTMLFormElement) => {
      if (fillings.has(form)) return;
      const before = [...fillings].find(([other]) => isInPlaceOf(other, form));
      if (!before) return;
      fillings.delete(before[0]);
      fillings.set(form, before[1]);
      fillers.set(form, fillers.get(before[0]) ?? {});
    };
    /** The events that a fact makes due, with the form's marks. */
    const take = (form: HTMLFormElement, fact: FormFact): Due[] => {
      const [next, due] = fill(fillings.get(form), fact, hiddenAt ?? performance.now());
      if (due.some(([event]) => event === STARTED)) fillers.set(form, actorOf(tracker));
      if (next) fillings.set(form, next);
      else fillings.delete(form);
      return withMarks(form, due);
    };
    const send = (due: readonly Due[]) => {
      for (const event of due) track(...event);
    };
    const flush = watchForms((form, fact) => {
      takeOver(form);
      send(take(form, fact));
      keep();
    }, listening);
    /** Ends these forms, and returns the events of those that the visitor has begun and not submitted. */
    const abandon = (left: readonly HTMLFormElement[]) =>
      left.flatMap((form) => take(form, { kind: 'leave' }).filter(() => isByVisitor(form)));
    const all = () => [...fillings.keys()];
    const takeBack = () => {
      // Another page has tracked them.
      if (!drafts.takeBack()) abandon(all());
    };
    const leave = () => {
      flush();
      const due = abandon(all());
      if (drafts.takeBack()) send(due);
    };

    /** Keeps the events of a hidden tab. Scripts may submit or remove a form there, so the events before are taken back. */
    const keep = () => {
      const now = hiddenAt;
      if (now === undefined) return;
      takeBack();
      const payloads = [...fillings].flatMap(([form, filling]) =>
        withMarks(form, isByVisitor(form) ? fill(filling, { kind: 'leave' }, now)[1] : []).map(
          ([, payload]) => payload,
        ),
      );
      if (payloads[0]) drafts.keep(payloads, leave);
    };
    const hide = () => {
      flush();
      hiddenAt = performance.now();
      keep();
    };
    const show = () => {
      hiddenAt = undefined;
      takeBack();
    };
    addEventListener('visibilitychange', () => (document.hidden ? hide() : show()), listening);
    addEventListener('pagehide', leave, listening);

    tools.onTrack(({ event }) => {
      if (event !== 'page_view' || listening.signal.aborted) return undefined;
      takeBack();
      // A form in a part of the page that stays, such as the footer, is not left.
      const due = abandon(all().filter((form) => !form.isConnected));
      queueMicrotask(() => {
        send(due);
        keep();
      });
      return undefined;
    });
    const off = on('change', leave);
    drafts.trackOthers(tracker, listening);
    return () => {
      leave();
      off();
      listening.abort();
    };
  };
};
