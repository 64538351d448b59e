import { pagesOf } from '../../pages.jsx';

const { Page, generateMetadata } = pagesOf('next-react');

export { generateMetadata };
export default Page;
