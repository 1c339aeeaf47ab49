import { getRouteApi } from '@tanstack/react-router';
import { ToolDetail } from '../../features/tools/tool-detail.tsx';

const route = getRouteApi('/cli-code/$toolId');

export function CodingToolPage() {
  const { toolId } = route.useParams();
  return <ToolDetail category="code" id={toolId} />;
}
