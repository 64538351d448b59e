// @ts-check

/**
 * The element with this id. A missing element is a mistake in the page, so the error names its id.
 *
 * @param {string} id
 * @returns {HTMLElement}
 */
export const byId = (id) => {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no #${id}`);
  return element;
};

/** @param {string} id */
export const formById = (id) => /** @type {HTMLFormElement} */ (byId(id));

/** @param {string} id */
export const inputById = (id) => /** @type {HTMLInputElement} */ (byId(id));

/**
 * The values of a form's fields, as text.
 *
 * @param {HTMLFormElement} form
 * @returns {Record<string, string>}
 */
export const fieldsOf = (form) =>
  Object.fromEntries(Array.from(new FormData(form), ([name, value]) => [name, String(value)]));

/**
 * Calls `submit` with the fields instead of leaving the page. The form's own alert shows the error that it throws, until the
 * next try.
 *
 * @param {string} id
 * @param {(fields: Record<string, string>, form: HTMLFormElement) => unknown} submit
 */
export const onSubmit = (id, submit) => {
  const form = formById(id);
  form.addEventListener('input', () => clearErrors(form));
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    await attempt(form, () => submit(fieldsOf(form), form));
  });
};

/** An invalid value of a field. */
export class FieldError extends Error {
  /** @param {string} field name of the field @param {string} message */
  constructor(field, message) {
    super(message);
    this.field = field;
  }
}

/** @param {Element} scope */
export const clearErrors = (scope) => {
  for (const alert of scope.querySelectorAll('[role=alert]')) alert.textContent = '';
  for (const field of scope.querySelectorAll('[aria-invalid]')) field.removeAttribute('aria-invalid');
};

/** Uses the alert that the field names in `aria-describedby`, else one of no field, else the first one. @param {Element} scope @param {unknown} error */
const showError = (scope, error) => {
  const field = error instanceof FieldError ? scope.querySelector(`[name="${error.field}"]`) : null;
  field?.setAttribute('aria-invalid', 'true');
  const alert =
    document.getElementById(field?.getAttribute('aria-describedby') ?? '') ??
    scope.querySelector('[role=alert]:not([id])') ??
    scope.querySelector('[role=alert]');
  if (alert) alert.textContent = error instanceof Error ? error.message : String(error);
  if (field instanceof HTMLElement) field.focus();
};

/**
 * Runs an action. An alert inside `scope` shows its error.
 *
 * @param {Element} scope
 * @param {() => unknown} action
 */
export const attempt = async (scope, action) => {
  try {
    clearErrors(scope);
    await action();
  } catch (error) {
    showError(scope, error);
  }
};

/**
 * @param {string} id
 * @param {() => unknown} action
 */
export const onClick = (id, action) => byId(id).addEventListener('click', action);

/** @param {number} count @param {string} one @param {string} [many] */
export const counted = (count, one, many = `${one}s`) => `${count.toLocaleString('en')} ${count === 1 ? one : many}`;

/** Time of day, to the second. @param {string | number} at */
export const timeOf = (at) => new Date(at).toLocaleTimeString('en-GB');

/** The first digits of a UUID, which are enough to distinguish two. @param {string} uuid */
export const short = (uuid) => uuid.slice(0, 8);
