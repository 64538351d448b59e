import { redirect } from 'next/navigation';
import { connection } from 'next/server';

const TITLES = { one: 'One', two: 'Two', three: 'Three' };

/** The title that a page and its metadata need. The server takes 300 ms for it. */
const loadTitle = async (page) => {
  await connection();
  await new Promise((resolve) => setTimeout(resolve, 300));
  return TITLES[page];
};

/** The pages below /`base`. `old` redirects to `three` while it is rendered, unless the configuration does so before. */
export const pagesOf = (base) => ({
  async Page({ params }) {
    const { page } = await params;
    if (page === 'old') redirect(`/${base}/three`);
    return <h1>{await loadTitle(page)}</h1>;
  },
  async generateMetadata({ params }) {
    const { page } = await params;
    return { title: await loadTitle(page) };
  },
});
