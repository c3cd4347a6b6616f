using System.Diagnostics.Metrics;
using ActOp.House.Tests;
using Microsoft.Extensions.Hosting;

namespace ActOp.Orleans.Tests;

/// <summary>What cannot work is refused at the start, with a text that says what to do.</summary>
public class StartTests
{
    [Fact]
    public async Task Adding_it_twice_is_refused() =>
        Assert.Contains("added twice", await Refusal(static silo => silo.AddActOp().AddActOpLocality()), StringComparison.Ordinal);

    [Fact]
    public async Task Adding_the_threads_twice_is_refused() => Assert.Contains(
        "AddActOpThreads: call one of them", await Refusal(static silo => silo.AddActOp().AddActOpThreads()), StringComparison.Ordinal);

    [Fact]
    public void A_client_that_adds_the_threads_is_refused() => new HostBuilder().UseOrleansClient(static client =>
        Assert.Contains("each silo", Assert.Throws<OrleansConfigurationException>(() => client.AddActOpThreads()).Message,
            StringComparison.Ordinal)).Build();

    [Theory]
    [InlineData("ModelPeriod")]
    [InlineData("MaxThreads")]
    [InlineData("SpinLimit")]
    [InlineData("ThreadPenalty")]
    [InlineData("ProcessorHeadroom")]
    [InlineData("Smoothing")]
    [InlineData("Hysteresis")]
    public async Task An_option_of_threads_out_of_range_is_refused_by_its_name(string option)
    {
        var refusal = await Refusal(silo => silo.AddActOpThreads(options =>
        {
            switch (option)
            {
                case "ModelPeriod":
                    options.ModelPeriod = TimeSpan.FromMilliseconds(99);
                    break;
                case "MaxThreads":
                    options.MaxThreads = 0;
                    break;
                case "SpinLimit":
                    options.SpinLimit = -1;
                    break;
                case "ThreadPenalty":
                    options.ThreadPenalty = TimeSpan.Zero;
                    break;
                case "ProcessorHeadroom":
                    options.ProcessorHeadroom = 0.9;
                    break;
                case "Smoothing":
                    options.Smoothing = 0;
                    break;
                default:
                    options.Hysteresis = double.NaN;
                    break;
            }
        }));
        Assert.Contains("ThreadOptions." + option, refusal, StringComparison.Ordinal);
    }

    [Fact]
    public void A_client_is_refused()
    {
        var host = new HostBuilder().UseOrleansClient(static client =>
            Assert.Contains("each silo", Assert.Throws<OrleansConfigurationException>(() => client.AddActOp()).Message,
                StringComparison.Ordinal));
        Assert.NotNull(host);
        Assert.ThrowsAny<Exception>(() => host.Build().Start());
    }

    [Fact]
    public async Task The_repartitioner_of_Orleans_beside_it_is_refused() =>
#pragma warning disable ORLEANSEXP001 // It is experimental; here it is only refused.
        Assert.Contains("AddActivationRepartitioner",
            await Refusal(static silo => silo.AddActOp().AddActivationRepartitioner()), StringComparison.Ordinal);
#pragma warning restore ORLEANSEXP001

    [Theory]
    [InlineData("Tolerance")]
    [InlineData("CandidateCount")]
    [InlineData("MaxRoundPeriod")]
    [InlineData("Moves")]
    public async Task An_option_out_of_range_is_refused_by_its_name(string option)
    {
        var refusal = await Refusal(silo => silo.AddActOpLocality(options =>
        {
            switch (option)
            {
                case "Tolerance":
                    options.Tolerance = 1;
                    break;
                case "CandidateCount":
                    options.CandidateCount = 0;
                    break;
                case "MaxRoundPeriod":
                    options.MaxRoundPeriod = options.MinRoundPeriod / 2;
                    break;
                default:
                    options.Moves = (MovableGrains)7;
                    break;
            }
        }));
        Assert.Contains("LocalityOptions." + option, refusal, StringComparison.Ordinal);
    }

    [Fact]
    public void What_is_public_is_what_the_file_says()
    {
        var path = Path.Combine(Root(), "src/ActOp.Orleans/PublicApi.txt");
        var actual = ApiText.Of(Path.Combine(AppContext.BaseDirectory, "ActOp.Orleans.dll"));
        if (Environment.GetEnvironmentVariable("ACTOP_UPDATE_API") == "1")
            File.WriteAllText(path, actual);
        Assert.Equal(File.ReadAllText(path), actual);
    }

    private static string Root()
    {
        var folder = new DirectoryInfo(AppContext.BaseDirectory);
        while (!File.Exists(Path.Combine(folder.FullName, "ActOp.sln")))
            folder = folder.Parent!;
        return folder.FullName;
    }

    private static async Task<string> Refusal(Action<ISiloBuilder> configure)
    {
        var exception = await Assert.ThrowsAnyAsync<Exception>(async () =>
        {
            using var host = new HostBuilder().UseOrleans((_, silo) => configure(silo.UseLocalhostClustering(21_317, 31_317))).Build();
            await host.StartAsync();
        });
        return exception.ToString();
    }
}

/// <summary>Meters of one test.</summary>
internal sealed class TestMeters : IMeterFactory
{
    private readonly List<Meter> _meters = [];

    public Meter Create(MeterOptions options)
    {
        var meter = new Meter(options);
        _meters.Add(meter);
        return meter;
    }

    public void Dispose()
    {
        foreach (var meter in _meters)
            meter.Dispose();
    }
}
