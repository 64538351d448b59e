import { expect, it } from 'vitest';
import { linkDomains } from '../../src/tracker/linkDomains.ts';
import { checkOptions, type TrackerOptions } from '../../src/tracker/options.ts';

it.each([undefined, 'shop.example', ['https://shop.example'], ['Shop.example'], ['müller.example'], [''], [{}]])(
  'refuses %j: expected is a list of domains as they are in addresses',
  (domains) => {
    expect(() => linkDomains(domains as string[])).toThrow(/^clew: linkDomains: expected a list of domains/);
  },
);

it('takes domains, also in Punycode, and is itself what the option takes', () => {
  const links = linkDomains(['shop.example', 'xn--mller-kva.example', 'localhost']);
  expect(() => checkOptions({ baseUrl: '/clew', linkDomains: links })).not.toThrow();
});

it.each([true, 'shop.example', ['shop.example']])('as the option %j is refused, with what to import', (given) => {
  const options = { baseUrl: '/clew', linkDomains: given } as unknown as TrackerOptions;
  expect(() => checkOptions(options)).toThrow('linkDomains: expected linkDomains(), imported from clew');
});
