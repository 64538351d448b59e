export { type ConsentModeOptions, consentMode } from './consent/consentMode.js';
export { type CookiebotOptions, cookiebot } from './consent/cookiebot.js';
export { type Answer, followConsent } from './consent/follow.js';
export { type OneTrustOptions, oneTrust } from './consent/oneTrust.js';
export { type TcfOptions, tcf } from './consent/tcf.js';
