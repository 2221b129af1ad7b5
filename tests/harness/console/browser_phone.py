"""A person at the phone of a page: what they click, and what they hear."""

from playwright.async_api import Locator, Page, expect

from tests.harness.until import MAX_WAIT_S, until

# The strongest frequency of the last moment, in Hz; 0: silence.
_HEARD_HZ = """async () => {
  const phone = document.querySelector("switchroom-phone");
  const stream = phone.speaker.srcObject;
  if (stream === null) return 0;
  const context = phone.context();
  if (phone.testedStream !== stream) {
    phone.testedStream = stream;
    phone.tester = context.createAnalyser();
    phone.tester.fftSize = 4096;
    phone.tester.smoothingTimeConstant = 0;
    context.createMediaStreamSource(stream).connect(phone.tester);
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
  const levels = new Float32Array(phone.tester.frequencyBinCount);
  phone.tester.getFloatFrequencyData(levels);
  const strongest = levels.reduce((best, each, index) => (each > levels[best] ? index : best), 0);
  return levels[strongest] > -60 ? (strongest * context.sampleRate) / 4096 : 0;
}"""
TOLERANCE_HZ = 25


class BrowserPhone:
    """The phone of one page."""

    def __init__(self, page: Page) -> None:
        self.page = page

    async def go_online(self) -> None:
        """Log in, and wait until calls can arrive."""
        await self.page.get_by_role("button", name="Go online").click()
        await self.until_ready()

    async def until_ready(self) -> None:
        """Wait until calls can arrive."""
        await expect(self.page.get_by_text("Ready for calls.")).to_be_visible()

    def button(self, name: str) -> Locator:
        """Return a button of the phone."""
        return self.page.get_by_role("button", name=name, exact=True)

    async def click(self, name: str) -> None:
        """Click a button of the phone."""
        await self.button(name).click()

    async def dial(self, party: str) -> None:
        """Call a number or an agent."""
        await self.page.get_by_label("Number or agent").fill(party)
        await self.click("Call")

    async def until_ringing(self) -> None:
        """Wait until the party that this phone calls is called."""
        await expect(self.page.get_by_text("Ringing…", exact=True)).to_be_visible()

    async def until_talking(self) -> None:
        """Wait until the call is connected."""
        await expect(self.page.get_by_text("Connected", exact=True)).to_be_visible()

    async def until_shown(self, party: str) -> None:
        """Wait until a party is shown as the other one."""
        await expect(self.page.get_by_text(party, exact=True)).to_be_visible()

    async def until_idle(self) -> None:
        """Wait until there is no call."""
        await expect(self.button("Hang up")).to_have_count(0)
        await expect(self.button("Answer")).to_have_count(0)

    async def until_hears(self, hz: int, timeout_s: float = MAX_WAIT_S) -> None:
        """Wait until a tone is heard."""
        heard: list[float] = []

        async def hears() -> bool:
            heard.append(await self.page.evaluate(_HEARD_HZ))
            return abs(heard[-1] - hz) < TOLERANCE_HZ

        await until(hears, timeout_s=timeout_s, what=lambda: f"{hz} Hz; heard: {heard[-5:]}")

    async def until_hears_anything(self) -> None:
        """Wait until a sound is heard."""

        async def hears() -> bool:
            return bool(await self.page.evaluate(_HEARD_HZ) > 0)

        await until(hears, what="a sound")

    async def until_silent(self) -> None:
        """Wait until nothing is heard."""

        async def is_silent() -> bool:
            return bool(await self.page.evaluate(_HEARD_HZ) == 0)

        await until(is_silent, what="silence")
