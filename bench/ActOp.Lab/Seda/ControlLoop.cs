using ActOp.Staging.Control;

namespace ActOp.Lab.Seda;

/// <summary>A controller of the silo at work on an emulated server, from time 0.</summary>
/// <param name="server">The server.</param>
/// <param name="controller">The controller.</param>
/// <param name="period">Seconds between decisions.</param>
internal sealed class ControlLoop(EmulatedServer server, IThreadController controller, double period)
{
    private int _decisions;

    /// <summary>How often a stage got another number of threads.</summary>
    public int Changes { get; private set; }

    /// <summary>Lets time pass, decisions included.</summary>
    public void RunUntil(double end)
    {
        while ((_decisions + 1) * period <= end)
        {
            _decisions++;
            server.RunUntil(_decisions * period);
            Decide();
        }

        server.RunUntil(end);
    }

    private void Decide()
    {
        var threads = controller.Decide([.. server.Stages.Select(stage => stage.Collect(period))]).Threads;
        for (var i = 0; i < threads.Count; i++)
        {
            if (threads[i] == server.Stages[i].Threads)
                continue;
            Changes++;
            server.SetThreads(i, threads[i]);
        }
    }
}
