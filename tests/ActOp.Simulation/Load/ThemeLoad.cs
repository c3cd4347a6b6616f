using ActOp.Runtime.Activations;
using ActOp.Simulation.Checks;
using ActOp.Simulation.World;
using ActOp.Testing.Simulated;
using Microsoft.Extensions.DependencyInjection;

namespace ActOp.Simulation.Load;

/// <summary>The workload of a theme of its own, with its checks; beside the callers of every run.</summary>
internal interface IThemeLoad
{
    /// <summary>Adds what the application of a machine needs.</summary>
    void Configure(Machine machine, IServiceCollection services);

    void BeginFaults();

    void EndFaults();

    /// <summary>A machine is up.</summary>
    void Begin(Machine machine);

    /// <summary>Once a second.</summary>
    void Watch();

    /// <summary>Something has happened to an activation.</summary>
    void Lived(Machine machine, Activation activation, LifeEvent happened);

    /// <summary>Nothing goes wrong any more: from now on it must be shown that all works.</summary>
    void End();

    /// <summary>Whether that is shown; asked before each event.</summary>
    bool HasProven { get; }

    /// <summary>Whether an idle activation is there for good.</summary>
    bool MayStay(Activation activation);

    /// <summary>Observers that the machine has for this load, at most.</summary>
    int ObserversOf(Machine machine);

    /// <summary>Why an error is in a log, if the load has brought it about; null if it has not.</summary>
    Excuse? ExcuseOf(LogLine line);
}
