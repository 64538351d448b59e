import { actions } from '../actions.ts';
import type { ThemeName } from '../plan.ts';
import { calls } from './calls.ts';
import { consent } from './consent.ts';
import { crashes } from './crashes.ts';
import { dormant } from './dormant.ts';
import { foreign } from './foreign.ts';
import { npm } from './npm.ts';
import { pages } from './pages.ts';
import { statuses } from './statuses.ts';
import { storage } from './storage.ts';
import type { Theme } from './theme.ts';
import { tokens } from './tokens.ts';
import { upstream } from './upstream.ts';

export const themes: Readonly<Record<ThemeName, Theme>> = {
  plain: { actions },
  consent,
  npm,
  storage,
  pages,
  crashes,
  calls,
  tokens,
  dormant,
  upstream,
  statuses,
  foreign,
};
