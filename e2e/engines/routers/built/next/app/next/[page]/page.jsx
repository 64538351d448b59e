import { pagesOf } from '../../pages.jsx';

const { Page, generateMetadata } = pagesOf('next');

export { generateMetadata };
export default Page;
