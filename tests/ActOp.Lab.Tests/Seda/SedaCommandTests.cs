using System.CommandLine;
using System.Text.Json;
using ActOp.Lab.Seda;

namespace ActOp.Lab.Tests.Seda;

public sealed class SedaCommandTests : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("seda");

    public void Dispose() => _folder.Delete(recursive: true);

    [Fact]
    public void A_run_writes_all_numbers_and_a_page_with_two_charts_for_each_controller()
    {
        var (json, html) = (Path.Combine(_folder.FullName, "run.json"), Path.Combine(_folder.FullName, "run.html"));
        Assert.Equal(0, Invoke(out _, "--hours", "0.02", "--warmup", "10", "--compare-seconds", "1", "--json", json, "--html", html));
        using var report = JsonDocument.Parse(File.ReadAllText(json));
        var controllers = report.RootElement.GetProperty("controllers").EnumerateArray().ToList();
        Assert.Equal(
            ["fixed", "queueLength", "model"], controllers.Select(static controller => controller.GetProperty("controller").GetString()));
        Assert.All(
            controllers, static controller =>
                Assert.Equal(6, controller.GetProperty("samples")[0].GetProperty("threads").GetArrayLength()));
        Assert.Equal(4, report.RootElement.GetProperty("proxies").GetArrayLength());
        Assert.Equal(6, File.ReadAllText(html).Split("<svg").Length - 1);
    }

    [Theory]
    [InlineData("--rate", "0")]
    [InlineData("--rate", "9000")]
    [InlineData("--stages", "0")]
    [InlineData("--stages", "21")]
    [InlineData("--compute", "1 2")]
    [InlineData("--blocked", "-1")]
    [InlineData("--processors", "0")]
    [InlineData("--hours", "-1")]
    [InlineData("--warmup", "3600")]
    [InlineData("--low", "101")]
    [InlineData("--penalty", "0")]
    [InlineData("--shape", "square")]
    public void A_bad_value_is_refused_by_the_name_of_its_option(string option, string value)
    {
        Assert.Equal(1, Invoke(out var errors, [option, .. value.Split(' ')]));
        Assert.Contains(option, errors, StringComparison.Ordinal);
    }

    private static int Invoke(out string errors, params string[] arguments)
    {
        using StringWriter output = new(), error = new();
        var code = SedaCommand.Create().Parse(arguments).Invoke(new InvocationConfiguration { Output = output, Error = error });
        errors = error.ToString();
        return code;
    }
}
