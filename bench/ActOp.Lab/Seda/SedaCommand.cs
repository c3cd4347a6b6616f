using System.CommandLine;
using ActOp.Harness.Reports;
using Spectre.Console;

namespace ActOp.Lab.Seda;

/// <summary>
/// seda: stages in virtual time under each controller, and the model's latency against the emulated one (paper section 5.1, Figure 7).
/// </summary>
internal static class SedaCommand
{
    public static Command Create()
    {
        SedaOptions options = new();
        Command command =
            new("seda", "Emulates a server with stages under each thread controller of the silo and compares the model's latency with "
                + "the emulated one.");
        options.AddTo(command);
        command.SetAction(result =>
        {
            if (Read(options, result, out var problem) is not { } study)
            {
                result.InvocationConfiguration.Error.WriteLine(problem);
                return 1;
            }

            var report = Play(study);
            SedaTables.Print(report);
            if (result.GetValue(options.Json) is { } json)
                ReportFile.WriteJson(json.FullName, report);
            if (result.GetValue(options.Html) is { } html)
                ReportFile.Write(html.FullName, SedaPage.Write(report));
            return 0;
        });
        return command;
    }

    private static SedaStudy? Read(SedaOptions options, ParseResult result, out string? problem)
    {
        try
        {
            var study = options.Read(result);
            problem = study.Problem();
            return problem is null ? study : null;
        }
        catch (ArgumentException exception)
        {
            problem = exception.Message;
            return null;
        }
    }

    private static SedaReport Play(SedaStudy study) => AnsiConsole.Progress().Start(progress =>
    {
        ControllerComparison controllers = new(study);
        ProxyComparison proxy = new(study);
        return new SedaReport(
            study.Plan, study.Hours, study.WarmUp, study.Penalty, study.Within,
            [
                Watch(progress, "fixed threads", controllers.PlayFixed),
                Watch(progress, "threads by queue length", controllers.PlayQueueLength),
                Watch(progress, "threads by the model", controllers.PlayModel),
            ],
            [.. Enum.GetValues<ServiceShape>().Select(shape => Watch(progress, $"service times {shape}", () => proxy.Play(shape)))]);
    });

    private static T Watch<T>(ProgressContext progress, string name, Func<T> play)
    {
        var task = progress.AddTask(name, maxValue: 1);
        var result = play();
        task.Increment(1);
        return result;
    }
}
