import { isObject } from '../wire.js';
import type { Proof } from './identity.js';

/** Whether two values of JSON are the same, in any order of names. Both are bounded in depth. */
const isSame = (one: unknown, other: unknown): boolean => {
  if (Array.isArray(one))
    return Array.isArray(other) && one.length === other.length && one.every((item, at) => isSame(item, other[at]));
  if (!isObject(one) || !isObject(other)) return one === other;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSame(one[name], other[name]))
  );
};

/**
 * Why a page may not set these customer properties, or undefined. The token decides about the properties that it names, and
 * `allowed` about the others.
 *
 * @param proof the page's proof of its customer
 * @param allowed the option `allowedProperties`
 */
export const propertyFault = (
  properties: Record<string, unknown>,
  proof: Proof,
  allowed: readonly string[] | undefined,
): string | undefined => {
  const { properties: signed = {} } = proof;
  for (const [name, value] of Object.entries(properties)) {
    const place = `properties.${name.slice(0, 80)}`;
    if (Object.hasOwn(signed, name)) {
      if (!isSame(signed[name], value)) return `${place}: expected the value of the identity token`;
    } else if (allowed && !allowed.includes(name))
      return `${place}: expected one of the relay option allowedProperties`;
    // A plain signature has never restricted this.
    else if (value === null && proof.properties && !allowed)
      return `${place}: expected a value. Only the identity token or allowedProperties allow its deletion`;
  }
  return undefined;
};
