// @module-tag promise
import { describe } from 'vitest';
import { customersSuite } from './customers.suite.ts';
import { drivers } from './drivers.ts';
import { journeysSuite } from './journeys.suite.ts';
import { lockingSuite } from './locking.suite.ts';
import { useCollector } from './running.ts';
import { storingSuite } from './storing.suite.ts';

/** The same behaviour on every database. One file, because the start of an embedded Postgres takes longer than these tests. */
describe.each(drivers)('on $name', (driver) => {
  const running = useCollector(driver);
  describe('storing', () => storingSuite(running));
  describe('customers', () => customersSuite(running));
  describe('journeys', () => journeysSuite(running));
  describe('the writing lock', () => lockingSuite(running, driver));
});
