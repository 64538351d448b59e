import { createRelay } from 'clew/relay';

// The demo's service, unless the environment names another one.
const { BASE_URL = 'http://127.0.0.1:8787', API_KEY = 'demo-key' } = process.env;
const relay = createRelay({
  baseUrl: BASE_URL,
  apiKey: API_KEY,
  allowUnsignedIdentify: true,
  allowUnsignedUpsert: true,
});

export default defineEventHandler((event) => relay(toWebRequest(event)));
