import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { blocksOf } from './markdown.ts';

type Listener = (event: { detail?: unknown }) => void;
type Tcf = (data: object, success: boolean) => void;

/** Runs the documented lines for a platform in a page with this platform. Returns the answers that they pass to clew. */
const play = (mark: string, platform: object) => {
  const block = blocksOf('docs/consent-platforms.md').find(({ text }) => text.includes(mark));
  const answers: unknown[] = [];
  const listeners = new Map<string, Listener>();
  const page = {
    addEventListener: (name: string, listener: Listener) => listeners.set(name, listener),
    clew: (method: string, answer: unknown) => method === 'consent' && answers.push(answer),
    ...platform,
  };
  const onAnswer = runInNewContext(`${block?.text}; typeof onAnswer === 'undefined' ? undefined : onAnswer`, page);
  return { answers, onAnswer, fire: (name: string, detail?: unknown) => listeners.get(name)?.({ detail }) };
};

it('OneTrust: passes the state of the group, once the visitor has answered', () => {
  let isClosed = false;
  const { answers, fire } = play('OneTrustGroupsUpdated', { OneTrust: { IsAlertBoxClosed: () => isClosed } });
  fire('OneTrustGroupsUpdated', ['C0001']);
  expect(answers).toEqual([]);
  isClosed = true;
  fire('OneTrustGroupsUpdated', ['C0001', 'C0002']);
  fire('OneTrustGroupsUpdated', ['C0001']);
  expect(answers).toEqual([true, false]);
});

it('Cookiebot: passes the answer on statistics', () => {
  const Cookiebot = { consent: { statistics: true } };
  const { answers, fire } = play('CookiebotOnConsentReady', { Cookiebot });
  fire('CookiebotOnConsentReady');
  Cookiebot.consent.statistics = false;
  fire('CookiebotOnConsentReady');
  expect(answers).toEqual([true, false]);
});

it.each(['explicit', 'EXPLICIT'])('Usercentrics: passes the state of the service, for the type %s', (type) => {
  const { answers, fire } = play('ucEvent', {});
  fire('ucEvent', { event: 'consent_status', type: type.replace(/ex/i, 'im'), clew: false });
  fire('ucEvent', { event: 'other', type, clew: true });
  expect(answers).toEqual([]);
  fire('ucEvent', { event: 'consent_status', type, clew: true });
  fire('ucEvent', { event: 'consent_status', type, clew: false });
  expect(answers).toEqual([true, false]);
});

it('TCF: passes the purposes, once the visitor has answered or where the GDPR does not apply', () => {
  let report: Tcf = () => {};
  const { answers } = play('__tcfapi', {
    __tcfapi: (_command: string, _version: number, listener: Tcf) => {
      report = listener;
    },
  });
  const purpose = (first: boolean, eighth: boolean) => ({ consents: { 1: first, 8: eighth } });
  report({ eventStatus: 'cmpuishown', gdprApplies: true, tcString: '', purpose: purpose(false, false) }, true);
  report({}, false);
  expect(answers).toEqual([]);
  report({ eventStatus: 'useractioncomplete', gdprApplies: true, tcString: 'C', purpose: purpose(true, true) }, true);
  report({ eventStatus: 'tcloaded', gdprApplies: true, tcString: 'C', purpose: purpose(true, false) }, true);
  report({ eventStatus: 'tcloaded', gdprApplies: false }, true);
  expect(answers).toEqual([true, false, true]);
});

it('Google Consent Mode: passes the same answer to Google and to clew', () => {
  const calls: unknown[][] = [];
  const { answers, onAnswer } = play('gtag', { gtag: (...call: unknown[]) => calls.push(call) });
  onAnswer(true);
  onAnswer(false);
  expect(answers).toEqual([true, false]);
  expect(calls.map(([, , state]) => state)).toEqual([
    { analytics_storage: 'granted' },
    { analytics_storage: 'denied' },
  ]);
});
