import type { Health } from './health.js';
import type { RelayRequest } from './request.js';

/** https://prometheus.io/docs/specs/om/open_metrics_spec/#text-format */
const METRICS_TYPE = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

/** The answer to a probe of an operator, or undefined if the request is none. */
export const answerToProbe = (
  { method }: RelayRequest,
  path: string,
  health: () => Promise<Health>,
  metrics: () => Promise<string>,
  metricsPath: string | undefined,
): Response | Promise<Response> | undefined => {
  if (method !== 'GET' && method !== 'HEAD') return undefined;
  if (path.endsWith('/health/live')) return Response.json({ live: true });
  if (path.endsWith('/health'))
    return health().then((state) => Response.json(state, { status: state.ready ? 200 : 503 }));
  if (!metricsPath || !path.endsWith(metricsPath)) return undefined;
  return metrics().then((text) => new Response(text, { headers: { 'Content-Type': METRICS_TYPE } }));
};
