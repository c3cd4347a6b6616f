using System.Net.Http.Json;
using static Microsoft.Playwright.Assertions;

namespace ActOp.Samples.Tests;

public class ChatTests(BrowserFixture browser)
{
    [Fact]
    public async Task What_one_person_says_in_a_room_another_person_reads()
    {
        await using var chat = await SampleProcess.StartAsync("Chat");
        var (ada, bob, eve) =
            (await browser.OpenAsync(chat.Address), await browser.OpenAsync(chat.Address), await browser.OpenAsync(chat.Address));
        await EnterAsync(ada, "Ada", "lobby");
        await EnterAsync(bob, "Bob", "lobby");
        await EnterAsync(eve, "Eve", "cellar");
        await SayAsync(ada, "Is <b>anybody</b> here?");
        await Expect(bob.Locator("#messages")).ToContainTextAsync("Ada: Is <b>anybody</b> here?");
        await SayAsync(bob, "I am.");
        await Expect(ada.Locator("#messages")).ToContainTextAsync("Bob: I am.");
        await Expect(eve.Locator("#messages")).ToContainTextAsync("Eve came in.");
        await Expect(eve.Locator("#messages")).Not.ToContainTextAsync("Bob");
    }

    [Fact]
    public async Task Who_comes_later_reads_what_was_said_before_and_who_leaves_is_missed()
    {
        await using var chat = await SampleProcess.StartAsync("Chat");
        var ada = await browser.OpenAsync(chat.Address);
        await EnterAsync(ada, "Ada", "lobby");
        await SayAsync(ada, "Nobody here yet.");
        var bob = await browser.OpenAsync(chat.Address);
        await EnterAsync(bob, "Bob", "lobby");
        await Expect(bob.Locator("#messages")).ToContainTextAsync("Ada: Nobody here yet.");
        await Expect(ada.Locator("#messages")).ToContainTextAsync("Bob came in.");
        await bob.CloseAsync();
        await Expect(ada.Locator("#messages")).ToContainTextAsync("Bob left.");
    }

    [Theory]
    [InlineData("/health")]
    [InlineData("/health/live")]
    [InlineData("/health/ready")]
    public async Task An_orchestrator_asks_for_the_health_of_the_silo(string path)
    {
        await using var chat = await SampleProcess.StartAsync("Chat");
        Assert.Equal("Healthy", await chat.Http.GetStringAsync(path));
    }

    [Theory]
    [InlineData("", "words")]
    [InlineData("Ada", " ")]
    public async Task A_bad_message_is_the_fault_of_the_one_who_sends_it(string name, string text)
    {
        await using var chat = await SampleProcess.StartAsync("Chat");
        using var answer = await chat.Http.PostAsJsonAsync("/api/rooms/lobby/messages", new { name, text });
        Assert.Equal(System.Net.HttpStatusCode.BadRequest, answer.StatusCode);
    }

    private static async Task EnterAsync(Microsoft.Playwright.IPage page, string name, string room)
    {
        await page.FillAsync("#name", name);
        await page.FillAsync("#room", room);
        await page.ClickAsync("#enter button");
        await Expect(page.Locator("#messages")).ToContainTextAsync(name + " came in.");
    }

    private static async Task SayAsync(Microsoft.Playwright.IPage page, string text)
    {
        await page.FillAsync("#text", text);
        await page.ClickAsync("#say button");
    }
}
