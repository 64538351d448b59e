import { Links } from '../links.jsx';

export default function Layout({ children }) {
  return (
    <div>
      <Links base="next-loading" />
      {children}
    </div>
  );
}
