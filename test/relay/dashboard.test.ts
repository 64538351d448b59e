import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { memorySeen } from '../../src/relay.ts';
import { openInMemory, requestOf } from './requests.ts';
import { event } from './stage.ts';

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
  readonly targets?: readonly { readonly expr: string }[];
}

const read = (name: string) => readFileSync(join(import.meta.dirname, '../../demo/grafana', name), 'utf8');
const panels = JSON.parse(read('clew-relay.json')).panels as readonly Panel[];
const rules = parse(read('alerts.yaml')).groups.flatMap(({ rules }: { rules: object[] }) => rules) as readonly {
  readonly expr: string;
  readonly annotations: { readonly summary: string };
}[];
const ofPanels = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
const expressions = [...ofPanels, ...rules.map(({ expr }) => expr)];
const charts = panels.filter(({ type }) => type !== 'row');

/** The metrics of a relay that has counted something of each kind, each with its labels. */
const exposed = async (): Promise<Map<string, Set<string>>> => {
  const seen = { ...memorySeen(), confirm: () => Promise.reject(new Error('down')) };
  const { relay } = openInMemory({ seen, limits: { total: { rate: 1, burst: 2 } } });
  await relay(requestOf({ batch: [event('a')] }));
  await relay(requestOf({ batch: [{ ...event('b'), source: 'other' }] }));
  await relay(requestOf({ batch: [event('c')] }));
  const found = new Map<string, Set<string>>();
  await expect.poll(() => relay.metrics()).toContain('clew_relay_missing_events');
  for (const [, name = '', labels = ''] of relay.metrics().matchAll(/^(clew_\w+)(?:\{(.*)\})? /gm)) {
    const names = found.get(name) ?? found.set(name, new Set()).get(name);
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) names?.add(label);
  }
  return found;
};
/** Prometheus adds these to each metric. */
const OF_PROMETHEUS = ['job', 'instance'];
const metricsIn = (expr: string) => [...expr.matchAll(/(clew_\w+)(?:\{(.*?)\})?/g)];

describe('dashboard and alerts of Grafana and Prometheus', () => {
  it('name metrics and labels that the relay has', async () => {
    const metrics = await exposed();
    for (const expr of expressions) {
      expect(metricsIn(expr)).not.toEqual([]);
      for (const [, name = '', selector = ''] of metricsIn(expr)) {
        const labels = [...selector.matchAll(/(\w+)=~?"/g)].map(([, label]) => label);
        expect([...(metrics.get(name) ?? []), ...OF_PROMETHEUS], `${name}{${selector}}`).toEqual(
          expect.arrayContaining(labels),
        );
        expect(metrics.has(name), name).toBe(true);
      }
      for (const [, label = ''] of expr.matchAll(/sum by \((\w+)\)/g)) {
        const labels = metricsIn(expr).flatMap(([, name = '']) => [...(metrics.get(name) ?? [])]);
        expect([...labels, ...OF_PROMETHEUS], expr).toContain(label);
      }
    }
  });

  it('show each metric of the relay', async () => {
    const shown = ofPanels.flatMap((expr) => metricsIn(expr).map(([, name]) => name));
    expect([...(await exposed()).keys()].filter((name) => !shown.includes(name))).toEqual([]);
  });

  it('have balanced brackets and units, and explain what to do', () => {
    for (const expr of expressions)
      for (const [open = '', close = ''] of ['()', '{}', '[]'].map((pair) => pair.split('')))
        expect(expr.split(open).length, expr).toBe(expr.split(close).length);
    for (const { annotations } of rules) expect(annotations.summary).toMatch(/\.$/);
    for (const { title, description, fieldConfig } of charts) {
      expect(description, title).toMatch(/\.$/);
      expect(fieldConfig?.defaults.unit, title).toBeTruthy();
    }
  });

  it('have panels that do not overlap, with ids of their own', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, n) => `${x + (n % w)} ${y + Math.floor(n / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(Math.max(...panels.map(({ gridPos: { x, w } }) => x + w))).toBe(24);
  });
});
