import { pagesOf } from '../../pages.jsx';

const { Page, generateMetadata } = pagesOf('next-loading');

export { generateMetadata };
export default Page;
