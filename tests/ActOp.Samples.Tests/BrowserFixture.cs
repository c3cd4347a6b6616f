using Microsoft.Playwright;

// Each test starts processes: one at a time is enough for a small machine.
[assembly: CollectionBehavior(DisableTestParallelization = true)]
[assembly: AssemblyFixture(typeof(ActOp.Samples.Tests.BrowserFixture))]

namespace ActOp.Samples.Tests;

/// <summary>
/// A real browser without a window. Where Chromium is not installed, tests of pages are skipped and say so; in a pipeline (CI=true) they
/// fail.
/// </summary>
public sealed class BrowserFixture : IAsyncLifetime
{
    private static readonly string? Chromium =
        Array.Find(["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"], File.Exists);

    /// <summary>For a page to load, to show something, and for the browser to start: only a defect reaches this bound.</summary>
    private const float Patience = 60_000;

    private IPlaywright? _playwright;
    private IBrowser? _browser;

    public async ValueTask InitializeAsync()
    {
        if (Chromium is null)
            return;
        Assertions.SetDefaultExpectTimeout(Patience);
        _playwright = await Playwright.CreateAsync();
        _browser = await _playwright.Chromium.LaunchAsync(
            new BrowserTypeLaunchOptions { ExecutablePath = Chromium, Args = ["--no-sandbox"], Timeout = Patience });
    }

    /// <summary>A page with cookies and storage of its own, as another person would have it.</summary>
    public async Task<IPage> OpenAsync(Uri address)
    {
        if (_browser is null)
        {
            Assert.False(
                Environment.GetEnvironmentVariable("CI") == "true", "Chromium is not installed, and a pipeline must not skip this test.");
            Assert.Skip("CHROMIUM IS NOT INSTALLED (apt-get install chromium): no page was tested.");
        }

        var context = await _browser.NewContextAsync();
        context.SetDefaultTimeout(Patience);
        var page = await context.NewPageAsync();
        await page.GotoAsync(address.ToString());
        return page;
    }

    public async ValueTask DisposeAsync()
    {
        if (_browser is not null)
            await _browser.DisposeAsync();
        _playwright?.Dispose();
    }
}
