import { createRelay, type Relay } from 'clew/relay';

let relay: Relay | undefined;
const handle = (request: Request) => {
  // Next imports this file during its build, too, where the variables may be missing.
  relay ??= createRelay({
    baseUrl: process.env.BASE_URL,
    apiKey: process.env.API_KEY,
    allowUnsignedIdentify: true,
    allowUnsignedUpsert: true,
  });
  return relay(request);
};

export { handle as OPTIONS, handle as POST };
