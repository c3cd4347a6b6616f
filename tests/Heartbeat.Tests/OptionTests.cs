using System.CommandLine;
using ActOp.Configuration;
using ActOp.Staging;
using Heartbeat.Bench;
using Heartbeat.Bench.Silos;

namespace Heartbeat.Tests;

public sealed class OptionTests
{
    [Theory]
    [InlineData("")]
    [InlineData("compare --loads low,high --blocking 0,10 --repeat 3 --json out.json")]
    [InlineData("compare --allocations cores,model,threadPool --peak 10000")]
    [InlineData("compare --allocations oneReader,cores,eight,threadPool,model --compute-us 0,200 --repeat 5 --peak 95000,7000.5")]
    [InlineData("compare --compute-us 0,200 --peak 7000,7000")]
    [InlineData("breakdown --load middle --compute-us 200 --peak 5000 --json out.json")]
    [InlineData("peak --compute-us 200")]
    [InlineData("heatmap --workers 1,2 --senders 1,2 --passes 1 --json out.json")]
    [InlineData("calibrate --threads 1,2 --json out.json")]
    [InlineData("step --allocations model --hold 5 --json out.json")]
    public void Commands_are_understood(string line) => Assert.Empty(HeartbeatCommands.Build().Parse(line).Errors);

    [Theory]
    [InlineData("compare --loads low,lofty", "--loads does not take 'lofty'")]
    [InlineData("compare --blocking 0,110", "--blocking does not take '110'")]
    [InlineData("compare --allocations 3", "--allocations does not take '3'")]
    [InlineData("compare --loads ,", "--loads is empty")]
    [InlineData("heatmap --workers 0", "--workers does not take '0'")]
    [InlineData("heatmap --senders 1,-2", "--senders does not take '-2'")]
    [InlineData("compare --compute-us 200,-1", "--compute-us does not take '-1'")]
    [InlineData("compare --compute-us 1000001", "--compute-us does not take '1000001'")]
    [InlineData("compare --peak 1e9", "--peak does not take '1e9'")]
    [InlineData("compare --peak -1", "--peak does not take '-1'")]
    public void A_wrong_list_is_named_with_what_is_wrong(string line, string error) =>
        Assert.Contains(HeartbeatCommands.Build().Parse(line).Errors, found => found.Message.Contains(error, StringComparison.Ordinal));

    [Fact]
    public void A_list_keeps_its_order_and_drops_repetitions()
    {
        var option = ListOption.OfPercents("--blocking", "", 0);
        var command = new RootCommand { option };
        Assert.Equal([10, 0.5, 0], command.Parse("--blocking 10,0.5,10,0").GetValue(option)!);
        Assert.Equal([0], command.Parse("").GetValue(option)!);
    }

    [Fact]
    public void A_list_of_numbers_may_repeat_one()
    {
        var option = ListOption.OfNumbers("--peak", "", 0, 100, 0);
        Assert.Equal([7, 7.5, 7], new RootCommand { option }.Parse("--peak 7,7.5,7").GetValue(option)!);
    }

    [Theory]
    [InlineData("--clients")]
    [InlineData("--reads")]
    [InlineData("--blocking-ms")]
    [InlineData("--queue-period")]
    [InlineData("--eta")]
    [InlineData("--warmup")]
    [InlineData("--measure")]
    [InlineData("--processes")]
    [InlineData("--max-outstanding")]
    public void A_wrong_option_is_named(string name)
    {
        var options = new HeartbeatOptions();
        var wrong = name switch
        {
            "--clients" => options with { Clients = 0 },
            "--reads" => options with { ReadPercent = 101 },
            "--blocking-ms" => options with { BlockingMs = 0 },
            "--queue-period" => options with { QueuePeriod = 0 },
            "--eta" => options with { ThreadPenalty = -1 },
            "--warmup" => options with { Warmup = double.NaN },
            "--measure" => options with { Measure = 0 },
            "--processes" => options with { Processes = 0 },
            _ => options with { MaxOutstanding = 0 },
        };
        Assert.Null(options.FindError());
        Assert.StartsWith(name + " must be", wrong.FindError(), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("compare --repeat 0")]
    [InlineData("compare --measure 0")]
    [InlineData("compare --compute-us 200,200")]
    [InlineData("compare --compute-us 0,200 --peak 7000")]
    [InlineData("compare --compute-us 200 --peak 7000,8000")]
    [InlineData("breakdown --compute-us -1")]
    [InlineData("breakdown --peak -1")]
    [InlineData("peak --compute-us 1000001")]
    [InlineData("breakdown --blocking 101")]
    [InlineData("heatmap --passes 0")]
    [InlineData("step --hold 0")]
    [InlineData("step --reply-rate 0")]
    [InlineData("step --reply-entries -1")]
    public async Task A_wrong_option_ends_the_command_before_any_process_starts(string line) =>
        Assert.Equal(2, await HeartbeatCommands.Build().Parse(line).InvokeAsync());

    [Fact]
    public void A_child_reads_the_options_that_its_parent_printed()
    {
        var options = new HeartbeatOptions { Application = Application.Counter, BlockingMs = 2.5, Seed = 7 };
        var cell = new CellOptions
        {
            Allocation = Allocation.QueueLength,
            WorkThreads = 3,
            BlockingPercent = 0.5,
            ComputeUs = 187.5,
            Schedule = "warmup:3:2000:0:0",
            FindPeak = true,
        };
        var table = new HeartbeatOptionTable(new HeartbeatOptions());
        var cells = new CellOptionTable();
        var root = new RootCommand();
        table.AddTo(root);
        cells.AddTo(root);
        var parsed = root.Parse([.. table.Print(options), .. cells.Print(cell)]);
        Assert.Empty(parsed.Errors);
        Assert.Equal(options, table.Read(parsed));
        Assert.Equal(cell, cells.Read(parsed));
    }

    [Theory]
    [InlineData(Allocation.Cores, StageController.Fixed, null)]
    [InlineData(Allocation.Eight, StageController.Fixed, 8)]
    [InlineData(Allocation.ThreadPool, StageController.Fixed, null)]
    [InlineData(Allocation.QueueLength, StageController.QueueLength, null)]
    [InlineData(Allocation.Model, StageController.Model, null)]
    public void An_allocation_is_what_the_silo_is_told(Allocation allocation, StageController controller, int? threads)
    {
        var stages = new StageOptions();
        SiloHost.Configure(
            stages, new HeartbeatOptions { QueuePeriod = 2, ThreadPenalty = 12.5 }, new CellOptions { Allocation = allocation });
        Assert.Equal(controller, stages.Controller);
        Assert.Equal(allocation == Allocation.ThreadPool ? StageMode.ThreadPool : StageMode.OwnThreads, stages.Mode);
        Assert.Equal([threads, threads, threads, threads],
            (int?[])[stages.ReceiveThreads, stages.WorkThreads, stages.SiloSendThreads, stages.ClientSendThreads]);
        Assert.Equal(TimeSpan.FromSeconds(2), stages.QueuePeriod);
        Assert.Equal(12.5, stages.ThreadPenalty.TotalMicroseconds);
    }

    [Fact]
    public void One_reader_has_two_workers_and_nobody_changes_that()
    {
        var stages = new StageOptions();
        SiloHost.Configure(stages, new HeartbeatOptions(), new CellOptions { Allocation = Allocation.OneReader });
        Assert.Equal(StageController.Fixed, stages.Controller);
        Assert.Equal(StageMode.OwnThreads, stages.Mode);
        Assert.Equal((1, 2), (stages.ReceiveThreads, stages.WorkThreads));
        Assert.Equal((null, null), (stages.SiloSendThreads, stages.ClientSendThreads));
    }

    [Fact]
    public void A_pinned_stage_keeps_its_threads_under_any_allocation()
    {
        var stages = new StageOptions();
        SiloHost.Configure(
            stages, new HeartbeatOptions(), new CellOptions { Allocation = Allocation.Eight, WorkThreads = 3, ClientSendThreads = 2 });
        Assert.Equal([8, 3, 8, 2], (int?[])[stages.ReceiveThreads, stages.WorkThreads, stages.SiloSendThreads, stages.ClientSendThreads]);
    }
}
