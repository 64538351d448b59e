export default { base: '/astro', build: { format: 'file' } };
