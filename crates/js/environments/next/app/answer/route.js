import { answer } from "../../answer.js";

export const dynamic = "force-dynamic";

export async function GET() {
  return new Response(await answer());
}
