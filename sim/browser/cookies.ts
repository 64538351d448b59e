import type { Refusal } from './page.ts';

/** The cookies of the browser: values by domain and name. All tabs see a change at once, because each read asks the browser. */
export type Cookies = Map<string, string>;

interface Use {
  /** The host of the page. */
  readonly host: string;
  readonly refusal: Refusal;
  /** A cookie is stored. */
  onStored(text: string): void;
  /** A cookie is deleted. */
  onDeleted(): void;
}

const isWithin = (host: string, domain: string) => `.${host}`.endsWith(`.${domain}`);

/** `document.cookie` of a page. A domain without a dot has no cookies, because it is a public suffix. */
export const createCookies = (cookies: Cookies, { host, refusal, onStored, onDeleted }: Use): PropertyDescriptor => {
  const check = () => {
    if (refusal === 'all') throw new DOMException('cookies are refused', 'SecurityError');
  };
  return {
    get() {
      check();
      const own = [...cookies].filter(([key]) => isWithin(host, key.split(' ')[0] as string));
      return own.map(([key, value]) => `${key.split(' ')[1]}=${value}`).join('; ');
    },
    set(text: string) {
      check();
      const [pair = '', ...attributes] = text.split('; ');
      const [name, value = ''] = pair.split('=');
      const attribute = (of: string) => attributes.find((one) => one.startsWith(`${of}=`))?.slice(of.length + 1);
      const domain = attribute('Domain') || host;
      if (!isWithin(host, domain) || !domain.includes('.')) return;
      const key = `${domain} ${name}`;
      if (attribute('Max-Age') === '0') {
        if (cookies.delete(key)) onDeleted();
        return;
      }
      cookies.set(key, value);
      onStored(text);
    },
  };
};
