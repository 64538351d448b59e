import { pagesOf } from '../../pages.jsx';

const { Page, generateMetadata } = pagesOf('next-redirect');

export { generateMetadata };
export default Page;
