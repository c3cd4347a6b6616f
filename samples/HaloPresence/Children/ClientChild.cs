using HaloPresence.Load;
using HaloPresence.Options;
using Harness.Children;
using Harness.Load;

namespace HaloPresence.Children;

/// <summary>
/// The load process: connects, runs the load and prints a <see cref="LoadReport"/> every second and a last one with the histogram.
/// </summary>
public static class ClientChild
{
    /// <summary>Runs all phases, or until standard input ends; returns the exit code.</summary>
    public static Task<int> RunAsync(HaloOptions options, int[] gateways) => LoadChild.RunAsync(
        ended => Backends.For(options).Connect(options, gateways, ended),
        (target, ended) => new LoadClient(options, target, new MonotonicClock(), report => JsonLines.Write(Console.Out, report)).Run(ended));
}
