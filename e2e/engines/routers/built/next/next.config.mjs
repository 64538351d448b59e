/** The rows whose pages do not redirect. */
const ROWS = ['next', 'next-react', 'next-loading'];

export default {
  skipTrailingSlashRedirect: true,
  redirects: () => ROWS.map((row) => ({ source: `/${row}/old`, destination: `/${row}/three`, permanent: false })),
};
