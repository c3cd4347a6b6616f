using ActOp.Samples.Tests;
using Microsoft.Playwright;
using static Microsoft.Playwright.Assertions;

namespace ActOp.Dashboard.Tests;

/// <summary>The page in a browser: three widths, light and dark, by mouse and by keyboard.</summary>
public class PageTests(BrowserFixture browser, TwoSilos silos) : IClassFixture<TwoSilos>
{
    /// <summary>Where pictures of the pages are left, to be looked at; none without it.</summary>
    private static readonly string? Pictures = Environment.GetEnvironmentVariable("ACTOP_SCREENSHOTS");

    [Theory]
    [InlineData(360, 740, ColorScheme.Light)]
    [InlineData(360, 740, ColorScheme.Dark)]
    [InlineData(768, 1024, ColorScheme.Light)]
    [InlineData(1280, 900, ColorScheme.Light)]
    [InlineData(1280, 900, ColorScheme.Dark)]
    public async Task Each_page_fits_its_window_and_shows_the_cluster(int width, int height, ColorScheme scheme)
    {
        var (page, errors) = await OpenAsync();
        await page.SetViewportSizeAsync(width, height);
        await page.EmulateMediaAsync(new PageEmulateMediaOptions { ColorScheme = scheme });
        foreach (var (name, table, row) in new[]
        {
            ("Silos", "#silo-table", "silo-b"), ("Classes", "#class-table", "player"), ("Graph", "#edge-table", "game and player"),
            ("Members", "#member-table", "silo-a"),
        })
        {
            await page.GetByRole(AriaRole.Link, new() { Name = name, Exact = true }).ClickAsync();
            await Expect(page.Locator(table + " tbody tr").Filter(new() { HasText = row }).First).ToBeVisibleAsync();
            await Expect(page.Locator("section:visible")).ToHaveCountAsync(1);
            Assert.True(await page.EvaluateAsync<bool>("document.documentElement.scrollWidth <= innerWidth"), name + " is too wide.");
            if (Pictures is not null)
            {
                await page.ScreenshotAsync(
                    new() { Path = Path.Combine(Pictures, $"{name}-{width}-{scheme}.png".ToLowerInvariant()), FullPage = true });
            }
        }

        Assert.Empty(errors);
    }

    [Fact]
    public async Task Rates_appear_and_the_stages_are_those_of_the_silo_that_is_chosen()
    {
        var (page, errors) = await OpenAsync();
        await Expect(page.Locator("#stage-table tbody tr")).ToHaveCountAsync(4);
        var other = page.Locator("#silo-table tbody button", new() { HasText = "silo-b" });
        await other.ClickAsync();
        await Expect(page.Locator("#stages-title")).ToHaveTextAsync("Stages of silo-b");
        await Expect(other).ToHaveAttributeAsync("aria-pressed", "true");
        // A rate is there with the second snapshot.
        await Expect(page.Locator("#stage-table tbody tr").Nth(1).Locator("td").Nth(2)).Not.ToHaveTextAsync("–");
        await Expect(page.Locator("#summary")).ToContainTextAsync("2 silos");
        Assert.Empty(errors);
    }

    [Fact]
    public async Task The_keyboard_reaches_everything()
    {
        var (page, errors) = await OpenAsync();
        await Expect(page.Locator("#silo-table tbody tr")).ToHaveCountAsync(2);
        await page.Keyboard.PressAsync("Tab");
        Assert.Equal("Skip to the content", await FocusAsync(page));
        foreach (var name in new[] { "Silos", "Classes", "Graph", "Members", "Pause" })
        {
            await page.Keyboard.PressAsync("Tab");
            Assert.Equal(name, await FocusAsync(page));
        }

        await page.Keyboard.PressAsync("Enter");
        Assert.Equal("Go on", await FocusAsync(page));
        await Expect(page.Locator("#pause")).ToHaveAttributeAsync("aria-pressed", "true");
        await page.Keyboard.PressAsync("Enter");
        // The table, which scrolls; then its heads; then the silos.
        for (var press = 0; press < 40 && await FocusAsync(page) != "silo-b"; press++)
            await page.Keyboard.PressAsync("Tab");
        await page.Keyboard.PressAsync("Enter");
        await Expect(page.Locator("#stages-title")).ToHaveTextAsync("Stages of silo-b");
        // The focus stays where it is when the page changes.
        await Expect(page.Locator("#silo-table tbody tr.chosen button")).ToBeFocusedAsync();
        Assert.Empty(errors);
    }

    [Fact]
    public async Task Tables_are_sorted_by_their_heads()
    {
        var (page, errors) = await OpenAsync();
        await page.GetByRole(AriaRole.Link, new() { Name = "Classes" }).ClickAsync();
        var head = page.Locator("#class-table thead th").First;
        await head.Locator("button").ClickAsync();
        await Expect(head).ToHaveAttributeAsync("aria-sort", "descending");
        await Expect(page.Locator("#class-table tbody tr").First).ToContainTextAsync("player");
        await head.Locator("button").ClickAsync();
        await Expect(head).ToHaveAttributeAsync("aria-sort", "ascending");
        await Expect(page.Locator("#class-table tbody tr").First).ToContainTextAsync("game");
        Assert.Empty(errors);
    }

    [Fact]
    public async Task A_silo_that_does_not_answer_any_more_is_said_and_the_last_state_stays()
    {
        var (page, _) = await OpenAsync();
        await Expect(page.Locator("#silo-table tbody tr")).ToHaveCountAsync(2);
        await page.RouteAsync("**/api/cluster", static route => route.AbortAsync());
        await Expect(page.Locator("#problem")).ToBeVisibleAsync();
        await Expect(page.Locator("#silo-table tbody tr")).ToHaveCountAsync(2);
        await page.UnrouteAsync("**/api/cluster");
        await Expect(page.Locator("#problem")).ToBeHiddenAsync();
    }

    private static Task<string> FocusAsync(IPage page) => page.EvaluateAsync<string>("document.activeElement.textContent");

    /// <summary>The page, and what its console says: a breach of the content policy is an error there.</summary>
    private async Task<(IPage Page, List<string> Errors)> OpenAsync()
    {
        var page = await browser.OpenAsync(new Uri("about:blank"));
        List<string> errors = [];
        page.Console += (_, message) =>
        {
            if (message.Type == "error")
                errors.Add(message.Text);
        };
        page.PageError += (_, error) => errors.Add(error);
        await page.GotoAsync(new Uri(silos.Address, "/actop").ToString());
        return (page, errors);
    }
}
