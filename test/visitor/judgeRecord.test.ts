// @module-tag promise
import { describe, expect, it } from 'vitest';
import { judgeRecord, MISSED, RENEWED, type Signs, SOON } from '../../src/visitor/judgeRecord.ts';
import { DOUBTED, MISSING } from '../../src/visitor/life.ts';

/** A page that loads, and finds the record. */
const FINE: Signs = {
  isErased: false,
  isOther: false,
  isRenewed: false,
  isMissing: false,
  doubt: undefined,
  isInformed: false,
  isRepeated: false,
};
const GONE = { isErased: true };

describe('the record shows whether the visitor has refused', () => {
  it.each<[string, Partial<Signs>, number | undefined]>([
    ['the record is there', {}, undefined],
    ['no record on a first visit', GONE, undefined],
    ['no record, and the mark is missing', { ...GONE, isMissing: true }, MISSED],
    ['no record, and the mark of a later consent', { ...GONE, isMissing: true, isOther: true }, RENEWED],
    ['no record, after the mark was missing', { ...GONE, doubt: DOUBTED }, MISSED],
    ['another service has written the record anew', { isErased: true, isMissing: true }, MISSED],
    ['another epoch', { isOther: true }, RENEWED],
    ['no record, and the mark of a consent after a refusal', { ...GONE, isRenewed: true }, RENEWED],
    ['another epoch, and the mark is missing', { isOther: true, isMissing: true }, RENEWED],
    ['another epoch, although erased for this service', { isOther: true, isErased: true, isMissing: true }, RENEWED],
  ])('to a page that would have got no message: %s', (_what, signs, expected) => {
    expect(judgeRecord({ ...FINE, ...signs })).toBe(expected);
    // Such a page decides at once, and does not wait for a message.
    expect(judgeRecord({ ...FINE, ...signs, isRepeated: true })).toBe(expected);
  });

  it('asks again if only the mark is missing, since a browser may delete the record yet', () => {
    expect(judgeRecord({ ...FINE, isMissing: true })).toBe(SOON);
    expect(judgeRecord({ ...FINE, isMissing: true, isRepeated: true })).toBeUndefined();
  });

  it('asks again if the record is of a later consent, which the visitor may be withdrawing', () => {
    const renewed = { ...FINE, isRenewed: true, isMissing: true };
    expect(judgeRecord({ ...renewed, doubt: MISSING })).toBe(SOON);
    expect(judgeRecord({ ...renewed, doubt: DOUBTED, isRepeated: true })).toBe(RENEWED);
    // There is nothing to wait for, as without a database.
    expect(judgeRecord({ ...renewed, ...GONE, doubt: MISSING })).toBe(RENEWED);
  });

  it.each<[string, Partial<Signs>, number | undefined, number | undefined]>([
    ['the record is there', {}, undefined, undefined],
    ['another epoch', { isOther: true }, SOON, undefined],
    ['another epoch, known to have begun after a refusal', { isOther: true, isRenewed: true }, RENEWED, RENEWED],
    ['the mark is missing', { isMissing: true }, SOON, undefined],
    ['no record', GONE, undefined, undefined],
    ['no record, and the mark is missing', { ...GONE, isMissing: true }, SOON, undefined],
    ['no record, and another mark', { ...GONE, isMissing: true, isOther: true }, SOON, undefined],
  ])('to a page that was open all the time: %s', (_what, signs, first, second) => {
    const informed = { ...FINE, ...signs, isInformed: true };
    expect([judgeRecord(informed), judgeRecord({ ...informed, isRepeated: true })]).toEqual([first, second]);
  });
});
